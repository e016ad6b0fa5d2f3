package server

import (
	"encoding/binary"
	"math"
	"net"
	"net/netip"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets of the fields of an IP packet, for a filter of a TCP socket, which begins at the TCP header.
const (
	networkHeader = 0xfff00000 // SKF_NET_OFF of linux/filter.h
	versionOffset = networkHeader
	source4Offset = networkHeader + 12
	source6Offset = networkHeader + 8
)

// ignoreNetworks makes the kernel drop what some networks send in order to connect to a listener, and nothing of others. Connections that are open
// are not concerned.
func ignoreNetworks(listener net.Listener, networks []netip.Prefix) {
	if len(networks) == 0 {
		withDescriptor(listener, func(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) })
		return
	}
	program, err := bpf.Assemble(dropping(networks))
	if err != nil {
		return
	}
	filter := make([]unix.SockFilter, len(program))
	for i, in := range program {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	attached := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	withDescriptor(listener, func(fd int) { _ = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, attached) })
}

// dropping returns a filter that drops packets from networks and keeps all others.
func dropping(networks []netip.Prefix) []bpf.Instruction {
	var four, six []bpf.Instruction
	for _, network := range networks {
		address := network.Addr().AsSlice()
		if network.Addr().Is4() {
			four = append(four, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: binary.BigEndian.Uint32(address), SkipTrue: 1}, bpf.RetConstant{})
			continue
		}
		six = append(six,
			bpf.LoadAbsolute{Off: source6Offset, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: binary.BigEndian.Uint32(address), SkipTrue: 3},
			bpf.LoadAbsolute{Off: source6Offset + 4, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: binary.BigEndian.Uint32(address[4:]), SkipTrue: 1},
			bpf.RetConstant{})
	}
	keep := []bpf.Instruction{bpf.RetConstant{Val: math.MaxUint32}}
	four = slices.Concat([]bpf.Instruction{bpf.LoadAbsolute{Off: source4Offset, Size: 4}}, four, keep)
	version := []bpf.Instruction{
		bpf.LoadAbsolute{Off: versionOffset, Size: 1},
		bpf.ALUOpConstant{Op: bpf.ALUOpShiftRight, Val: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 4, SkipTrue: 1},
		bpf.Jump{Skip: uint32(len(four))},
	}
	return slices.Concat(version, four, six, keep)
}
