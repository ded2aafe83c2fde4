import { describe, expect, it } from 'vitest'

import { MAX_SERIES, MetricRegistry, OTHER } from './registry.ts'
import { chooseFormat, formatMetrics } from './text-format.ts'

describe('MetricRegistry', () => {
  it('[API-M1] MetricRegistry has one series per set of label values', () => {
    const registry = new MetricRegistry()
    const counter = registry.counter('a_total', { help: 'A', labels: ['x', 'y'] })
    counter.add({ x: '1', y: '23' })
    counter.add({ y: '3', x: '12' })
    counter.add({ x: '1', y: '23' }, 2)
    expect(samplesOf(registry)).toEqual(['a_total{x="1",y="23"} 3', 'a_total{x="12",y="3"} 1'])
    expect(() => registry.gauge('a_total', { help: 'A' })).toThrow(
      'Metric "a_total" already exists',
    )
  })

  it('[API-M2] MetricRegistry counts label values beyond the limit as "other"', () => {
    const registry = new MetricRegistry()
    const counter = registry.counter('a_total', { help: 'A', labels: ['x', 'y'] })
    for (let index = 0; index < MAX_SERIES + 5; index += 1) counter.add({ x: `${index}`, y: 'y' })
    counter.add({ x: '0', y: 'y' })
    const samples = samplesOf(registry)
    expect(samples).toHaveLength(MAX_SERIES + 1)
    expect(samples.at(-1)).toBe(`a_total{x="${OTHER}",y="${OTHER}"} 5`)
    expect(samples[0]).toBe('a_total{x="0",y="y"} 2')
  })

  it('[API-M3] MetricRegistry ignores non-finite values and negative additions to a counter', () => {
    const registry = new MetricRegistry()
    const counter = registry.counter('a_total', { help: 'A' })
    const histogram = registry.histogram('b', { help: 'B', buckets: [1] })
    for (const value of [-1, NaN, Infinity]) counter.add({}, value)
    for (const value of [NaN, Infinity]) histogram.observe({}, value)
    expect(samplesOf(registry)).toEqual([
      'a_total 0',
      'b_bucket{le="1"} 0',
      'b_bucket{le="+Inf"} 0',
      'b_sum 0',
      'b_count 0',
    ])
  })

  it('MetricRegistry counts a value in every bucket whose bound it does not exceed', () => {
    const registry = new MetricRegistry()
    const histogram = registry.histogram('b', { help: 'B', labels: ['x'], buckets: [0.125, 1] })
    for (const value of [0.125, 0.25, 1, 7, -2]) histogram.observe({ x: 'é' }, value)
    expect(samplesOf(registry)).toEqual([
      'b_bucket{x="é",le="0.125"} 2',
      'b_bucket{x="é",le="1"} 4',
      'b_bucket{x="é",le="+Inf"} 5',
      'b_sum{x="é"} 6.375',
      'b_count{x="é"} 5',
    ])
  })

  it('MetricRegistry reports no value of a gauge that was never set or was cleared', () => {
    const registry = new MetricRegistry()
    const gauge = registry.gauge('g', { help: 'G' })
    expect(samplesOf(registry)).toEqual([])
    gauge.set({}, -0.5)
    gauge.add({}, 1)
    expect(samplesOf(registry)).toEqual(['g 0.5'])
    gauge.clear()
    expect(samplesOf(registry)).toEqual([])
  })

  it('MetricRegistry escapes labels and help texts', () => {
    const registry = new MetricRegistry()
    registry.gauge('g', { help: 'A "b" \\ c\nd', labels: ['x'] }).set({ x: 'A "b" \\ c\nd' }, 1)
    const line = String.raw`g{x="A \"b\" \\ c\nd"} 1`
    expect(formatMetrics(registry.read(), 'prometheus')).toBe(
      `${String.raw`# HELP g A "b" \\ c\nd`}\n# TYPE g gauge\n${line}\n`,
    )
    expect(formatMetrics(registry.read(), 'openmetrics')).toBe(
      `${String.raw`# HELP g A \"b\" \\ c\nd`}\n# TYPE g gauge\n${line}\n# EOF\n`,
    )
  })

  it('MetricRegistry uses OpenMetrics only if Accept names it', () => {
    expect(chooseFormat(null)).toBe('prometheus')
    expect(chooseFormat('text/plain;version=0.0.4')).toBe('prometheus')
    expect(chooseFormat('application/openmetrics-text; version=1.0.0')).toBe('openmetrics')
  })
})

function samplesOf(registry: MetricRegistry): readonly string[] {
  const lines = formatMetrics(registry.read(), 'prometheus').split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#'))
}
