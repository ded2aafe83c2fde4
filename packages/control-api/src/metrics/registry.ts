/**
 * Metrics of one process. Decision 22 says why this is not a library. A parser that was written from the text format, and
 * not from this code, reads every scrape in the tests.
 *
 * API-M1 A family has one name, and one series for each set of label values that was ever used.
 * API-M2 Labels are bounded: a family has at most `MAX_SERIES`; what comes beyond is counted under `other`, so that sums stay
 *    right and memory bounded whatever comes in.
 * API-M3 Counting never throws.
 */

/** What kind of numbers a family has. */
export type MetricType = 'counter' | 'gauge' | 'histogram'

/** What is said of a family, whatever its numbers are. */
export interface MetricDescription {
  readonly name: string
  readonly type: MetricType
  readonly help: string
  readonly labels: readonly string[]
}

/** One line of a family: what its name ends with, its labels, its number. */
export interface Sample {
  readonly suffix: '' | '_bucket' | '_sum' | '_count'
  readonly labels: readonly (readonly [name: string, value: string])[]
  readonly value: number
}

/** A family with its numbers as they are now. */
export interface Family extends MetricDescription {
  readonly samples: readonly Sample[]
}

/** Values of all labels of a family. */
export type Labels<L extends string> = Readonly<Record<L, string>>

/** Series of one family, at most. */
export const MAX_SERIES = 2_000

/** The value of every label for what comes beyond. */
export const OTHER = 'other'

/** What a family is made of. */
export interface MetricOptions<L extends string> {
  readonly help: string
  /** Names of its labels. @default none */
  readonly labels?: readonly L[]
}

/** The same for a histogram. */
export interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Upper bounds, rising; the one without end is added. */
  readonly buckets: readonly number[]
}

/** Counts what can only become more. */
export interface Counter<L extends string = never> {
  /** `by` below 0 and what is no number is left out. */
  add(labels: Labels<L>, by?: number): void
}

/** Tells a number that comes and goes. */
export interface Gauge<L extends string = never> {
  set(labels: Labels<L>, value: number): void
  add(labels: Labels<L>, by: number): void
  /** Forgets every series: what is not known any more is not told. */
  clear(): void
}

/** Counts values by their size. */
export interface Histogram<L extends string = never> {
  observe(labels: Labels<L>, value: number): void
}

interface Recorded {
  readonly description: MetricDescription
  samples(): readonly Sample[]
}

/** The families of one process. */
export class MetricRegistry {
  readonly #families = new Map<string, Recorded>()

  /** @throws {TypeError} when the name is taken. */
  counter<L extends string = never>(name: string, options: MetricOptions<L>): Counter<L> {
    const series = this.#register(name, 'counter', options, () => ({ value: 0 }))
    return {
      add(labels, by = 1) {
        if (by >= 0 && Number.isFinite(by)) series.of(labels).value += by
      },
    }
  }

  /** @throws {TypeError} when the name is taken. */
  gauge<L extends string = never>(name: string, options: MetricOptions<L>): Gauge<L> {
    const series = this.#register(name, 'gauge', options, () => ({ value: 0 }))
    // What nobody has set is not known.
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

  /** @throws {TypeError} when the name is taken. */
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

  /** What is said of each family, in the order in which they were made. */
  describe(): readonly MetricDescription[] {
    return [...this.#families.values()].map(({ description }) => description)
  }

  /** Every family with its numbers. */
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
    if (this.#families.has(name)) throw new TypeError(`There is a metric named "${name}" already`)
    this.#families.set(name, recorded)
  }
}

/** What no label value holds. */
const SEPARATOR = '\u0000'

/** Series of a family by the values of their labels. One without labels is there from the start, at 0. */
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
    const [first, ...others] = this.#names
    // Most families have one label or none.
    const key =
      first === undefined
        ? ''
        : others.reduce((text, name) => text + SEPARATOR + labels[name], labels[first])
    return this.#series.get(key) ?? this.#add(key)
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
    const place = isFull ? this.#names.map(() => OTHER).join(SEPARATOR) : key
    const made = this.#series.get(place) ?? this.#make()
    this.#series.set(place, made)
    return made
  }
}

/** Values by their size. */
class Distribution {
  readonly #bounds: readonly number[]
  /** Values up to each bound and above the one before; the last are those above all. */
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
