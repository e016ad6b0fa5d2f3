package ratelimit_test

import (
	"fmt"
	"time"

	"retwis/internal/ratelimit"
)

// A budget is replenished evenly over the period.
func ExampleRate() {
	rate, err := ratelimit.ParseRate("60/1m")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rate.Time(15), "replenish 15")
	fmt.Println(rate.Remaining(20*time.Second), "remain while 20 s are missing")
	_, err = ratelimit.ParseRate("60")
	fmt.Println(err)
	// Output:
	// 15s replenish 15
	// 40 remain while 20 s are missing
	// invalid rate "60": use a form like 10/1m with a count from 1 to 10000000, or off
}
