/**
 * Metrics of one process. Decision 22 explains why this is not a library. The tests read every scrape with a parser
 * that was written from the specification of the text format.
 *
 * API-M1 A family has a unique name, and one series per set of label values that was used.
 * API-M2 A family has at most `MAX_SERIES` series. Further label values are counted as `other`, so that sums stay correct
 *    and memory stays bounded.
 * API-M3 Counting never throws.
 */

/** Type of a family. */
export type MetricType = 'counter' | 'gauge' | 'histogram'

/** Name, type, help text and label names of a family. */
export interface MetricDescription {
  readonly name: string
  readonly type: MetricType
  readonly help: string
  readonly labels: readonly string[]
}

/** One line of a family: suffix of its name, labels and value. */
export interface Sample {
  readonly suffix: '' | '_bucket' | '_sum' | '_count'
  readonly labels: readonly (readonly [name: string, value: string])[]
  readonly value: number
}

/** A family with its current samples. */
export interface Family extends MetricDescription {
  readonly samples: readonly Sample[]
}

/** Values of the labels of a family. */
export type Labels<L extends string> = Readonly<Record<L, string>>

/** Maximum number of series of one family. */
export const MAX_SERIES = 2_000

/** Label value for everything beyond `MAX_SERIES`. */
export const OTHER = 'other'

/** Help text and label names of a metric. */
export interface MetricOptions<L extends string> {
  readonly help: string
  /** Label names. @default none */
  readonly labels?: readonly L[]
}

export interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Ascending upper bounds; `+Inf` is added. */
  readonly buckets: readonly number[]
}

/** Counter, whose value only increases. */
export interface Counter<L extends string = never> {
  /** Adds `by`, 1 by default. Negative and non-finite values are ignored. */
  add(labels: Labels<L>, by?: number): void
}

/** Gauge, whose value can increase and decrease. */
export interface Gauge<L extends string = never> {
  set(labels: Labels<L>, value: number): void
  add(labels: Labels<L>, by: number): void
  /** Removes all series, so that unknown values are not reported. */
  clear(): void
}

/** Histogram, which counts values by size. */
export interface Histogram<L extends string = never> {
  observe(labels: Labels<L>, value: number): void
}

interface Recorded {
  readonly description: MetricDescription
  samples(): readonly Sample[]
}

/** Registry of all metric families of one process. */
export class MetricRegistry {
  readonly #families = new Map<string, Recorded>()

  /**
   * Creates a counter.
   *
   * @throws {TypeError} when the name is taken.
   */
  counter<L extends string = never>(name: string, options: MetricOptions<L>): Counter<L> {
    const series = this.#register(name, 'counter', options, () => ({ value: 0 }))
    return {
      add(labels, by = 1) {
        if (by >= 0 && Number.isFinite(by)) series.of(labels).value += by
      },
    }
  }

  /**
   * Creates a gauge.
   *
   * @throws {TypeError} when the name is taken.
   */
  gauge<L extends string = never>(name: string, options: MetricOptions<L>): Gauge<L> {
    const series = this.#register(name, 'gauge', options, () => ({ value: 0 }))
    // A gauge that was never set has no value.
    series.clear()
    return {
      set(labels, value) {
        series.of(labels).value = value
      },
      add(labels, by) {
        series.of(labels).value += by
      },
      clear() {
        series.clear()
      },
    }
  }

  /**
   * Creates a histogram.
   *
   * @throws {TypeError} when the name is taken.
   */
  histogram<L extends string = never>(name: string, options: HistogramOptions<L>): Histogram<L> {
    const { help, labels: names = [], buckets } = options
    const series = new SeriesMap<L, Distribution>(names, () => new Distribution(buckets))
    this.#add({
      description: { name, type: 'histogram', help, labels: names },
      samples: () => [...series].flatMap(([labels, values]) => values.samples(labels)),
    })
    return {
      observe(labels, value) {
        if (Number.isFinite(value)) series.of(labels).observe(value)
      },
    }
  }

  /** Returns the descriptions of all families in order of creation. */
  describe(): readonly MetricDescription[] {
    return [...this.#families.values()].map(({ description }) => description)
  }

  /** Returns all families with their current samples. */
  read(): readonly Family[] {
    return [...this.#families.values()].map(({ description, samples }) => ({
      ...description,
      samples: samples(),
    }))
  }

  #register<L extends string>(
    name: string,
    type: 'counter' | 'gauge',
    ...[{ help, labels: names = [] }, make]: [MetricOptions<L>, () => { value: number }]
  ): SeriesMap<L, { value: number }> {
    const series = new SeriesMap<L, { value: number }>(names, make)
    this.#add({
      description: { name, type, help, labels: names },
      samples: () => [...series].map(([labels, { value }]) => ({ suffix: '', labels, value })),
    })
    return series
  }

  #add(recorded: Recorded): void {
    const { name } = recorded.description
    if (this.#families.has(name)) throw new TypeError(`Metric "${name}" already exists`)
    this.#families.set(name, recorded)
  }
}

/** Separator of label values in keys; it does not occur in label values. */
const SEPARATOR = '\u0000'

/** Series of a family by label values. A family without labels has its only series from the start, at 0. */
class SeriesMap<L extends string, S> {
  readonly #names: readonly L[]
  readonly #make: () => S
  readonly #series = new Map<string, S>()

  constructor(names: readonly L[], make: () => S) {
    this.#names = names
    this.#make = make
    if (names.length === 0) this.#series.set('', make())
  }

  of(labels: Labels<L>): S {
    // Most families have one label or none.
    let key: string | undefined
    for (const name of this.#names) {
      key = key === undefined ? labels[name] : key + SEPARATOR + labels[name]
    }
    return this.#series.get(key ?? '') ?? this.#add(key ?? '')
  }

  clear(): void {
    this.#series.clear()
  }

  *[Symbol.iterator](): Generator<[Sample['labels'], S]> {
    for (const [key, series] of this.#series) {
      const values = key.split(SEPARATOR)
      yield [this.#names.map((name, index) => [name, values[index] ?? '']), series]
    }
  }

  #add(key: string): S {
    const isFull = this.#series.size >= MAX_SERIES
    const seriesKey = isFull ? this.#names.map(() => OTHER).join(SEPARATOR) : key
    const made = this.#series.get(seriesKey) ?? this.#make()
    this.#series.set(seriesKey, made)
    return made
  }
}

/** Counts of values per bucket, and their sum. */
class Distribution {
  readonly #bounds: readonly number[]
  /** Number of values per bucket, not cumulative; the last bucket has no upper bound. */
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = [...bounds, Infinity].map(() => 0)
  }

  observe(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound)
    const at = found === -1 ? this.#bounds.length : found
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
  }

  samples(labels: Sample['labels']): readonly Sample[] {
    let total = 0
    const buckets = this.#counts.map((count, index): Sample => {
      total += count
      const bound = this.#bounds[index]
      const le = ['le', bound === undefined ? '+Inf' : String(bound)] as const
      return { suffix: '_bucket', labels: [...labels, le], value: total }
    })
    return [
      ...buckets,
      { suffix: '_sum', labels, value: this.#sum },
      { suffix: '_count', labels, value: total },
    ]
  }
}
