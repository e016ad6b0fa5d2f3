'use strict'
const report = JSON.parse(document.getElementById('report').textContent)
const dark = matchMedia('(prefers-color-scheme: dark)')
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
const number = (n) => (n == null ? '–' : n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2))

let plots = []

function axis(more) {
  const quiet = colour('--quiet')
  const line = { stroke: colour('--line'), width: 1 }
  return { stroke: quiet, grid: line, ticks: line, font: '12px system-ui, sans-serif', ...more }
}

function lines(names) {
  return names.map(([label, name, filled]) => ({
    label,
    stroke: colour(name),
    width: 2,
    fill: filled ? colour(name) + '22' : undefined,
    value: (_, n) => number(n),
    points: { show: report.timeline.length < 40 && !filled },
  }))
}

function draw(id, x, series, data, scales, xAxis) {
  const place = document.getElementById(id)
  if (!place) return
  const options = {
    width: place.clientWidth,
    height: 260,
    scales,
    axes: [axis(xAxis), axis({ size: 60, values: (_, all) => all.map((n) => (n == null ? '' : String(+n.toPrecision(3)))) })],
    series: [x, ...series],
    cursor: { y: false },
  }
  plots.push({ place, plot: new uPlot(options, data, place) })
}

function drawAll() {
  for (const { plot } of plots) plot.destroy()
  plots = []
  const timeline = report.timeline.filter((i) => i.length > 0.2)
  const seconds = timeline.map((i) => i.seconds)
  const time = { label: 'second', value: (_, n) => number(n) }
  const overTime = { x: { time: false }, y: { range: (_, low, high) => [0, (high || 1) * 1.08] } }
  const each = (what) => timeline.map((i) => i[what] / i.length)
  const busy = (what) => timeline.map((i) => (i.max > 0 ? i[what] : null))

  draw('latency', time, lines([['p50', '--a'], ['p99', '--b'], ['max', '--c']]),
    [seconds, busy('p50'), busy('p99'), busy('max')], overTime, {})
  draw('rate', time, lines([['operations', '--a', true], ['errors', '--c']]),
    [seconds, each('operations'), each('errors')], overTime, {})
  draw('deliveries', time, lines([['deliveries', '--d', true]]), [seconds, each('deliveries')], overTime, {})
  drawPercentiles()
}

// The scale widens towards 100 %.
function drawPercentiles() {
  const colours = ['--a', '--b', '--d', '--c']
  let all = [...report.operations, report.deliveries, report.reached].filter((s) => s && s.percentiles.length > 0)
  if (report.deliveries) all = all.filter((s) => s.name !== 'posts')
  all = all.sort((a, b) => b.count - a.count).slice(0, colours.length) // series with few values have few percentiles
  if (all.length === 0) return
  const place = (percent) => 1 / (1 - percent / 100)
  const tables = all.map((s) => [s.percentiles.map(([p]) => place(p)), s.percentiles.map(([, latency]) => latency)])
  draw('percentiles',
    { label: 'percentile', value: (_, n) => (n == null ? '–' : 'p' + +(100 - 100 / n).toFixed(4)) },
    lines(all.map((s, i) => [s.name, colours[i]])).map((s) => ({ ...s, points: { show: false }, spanGaps: true })),
    uPlot.join(tables),
    { x: { time: false, distr: 3 }, y: { range: (_, low, high) => [0, (high || 1) * 1.08] } },
    { values: (_, all) => all.map((n) => (n == null || Math.log10(n) % 1 > 1e-6 ? '' : n === 1 ? 'p0' : 'p' + +(100 - 100 / n).toFixed(4))) })
}

drawAll()
dark.addEventListener('change', drawAll)
addEventListener('resize', () => {
  for (const { place, plot } of plots) plot.setSize({ width: place.clientWidth, height: 260 })
})
