/**
 * Parses metrics strictly. It was written from the specifications of the formats, independent of the code that writes
 * them.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 * @see https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
 */

/** One line with a value. */
export interface ReadSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A parsed family. */
export interface ReadFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly ReadSample[]
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?Inf|NaN)$/

/** Parses families by name. @throws {Error} naming the invalid line and the rule. */
export function readMetrics(
  text: string,
  format: 'prometheus' | 'openmetrics' = 'prometheus',
): ReadonlyMap<string, ReadFamily> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end')
  if (text.includes('\r')) throw new Error('A line ends with a carriage return')
  const lines = text.slice(0, -1).split('\n')
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('There is no # EOF')
  const reader = new Reader(format === 'openmetrics')
  for (const [index, line] of lines.entries()) {
    try {
      reader.line(line)
    } catch (error) {
      throw new Error(`Line ${index + 1}, ${JSON.stringify(line)}: ${String(error)}`, {
        cause: error,
      })
    }
  }
  return reader.end()
}

interface OpenFamily {
  name: string
  type?: string
  help?: string
  readonly samples: ReadSample[]
}

class Reader {
  readonly #isOpen: boolean
  readonly #families = new Map<string, ReadFamily>()
  readonly #seen = new Set<string>()
  #present: OpenFamily | undefined

  constructor(isOpen: boolean) {
    this.#isOpen = isOpen
  }

  line(line: string): void {
    if (line === '') throw new Error('an empty line')
    const [, keyword, name, rest] = /^# (HELP|TYPE|UNIT|EOF) ?(\S*) ?(.*)$/s.exec(line) ?? []
    if (line.startsWith('#')) {
      if (keyword === undefined || name === undefined) throw new Error('neither HELP nor TYPE')
      if (keyword === 'HELP') this.#help(name, rest ?? '')
      else if (keyword === 'TYPE') this.#type(name, rest ?? '')
      else throw new Error(`${keyword} in the middle`)
      return
    }
    this.#sample(line)
  }

  end(): ReadonlyMap<string, ReadFamily> {
    this.#close()
    return this.#families
  }

  #help(name: string, escaped: string): void {
    this.#open(name)
    if (this.#present?.help !== undefined) throw new Error('a second HELP')
    if (this.#present?.type !== undefined) throw new Error('HELP after TYPE')
    if (this.#present !== undefined) {
      this.#present.help = unescaped(escaped, this.#isOpen ? '\\n"' : '\\n')
    }
  }

  #type(name: string, type: string): void {
    this.#open(name)
    if (!['counter', 'gauge', 'histogram'].includes(type)) throw new Error(`type ${type}`)
    if (this.#present?.type !== undefined) throw new Error('a second TYPE')
    if ((this.#present?.samples.length ?? 0) > 0) throw new Error('TYPE after a sample')
    if (this.#present !== undefined) this.#present.type = type
  }

  #open(name: string): void {
    if (!METRIC_NAME.test(name)) throw new Error(`"${name}" is no name of a metric`)
    if (this.#present?.name === name) return
    this.#close()
    if (this.#families.has(name)) throw new Error(`${name} is there twice`)
    this.#present = { name, samples: [] }
  }

  #sample(line: string): void {
    const { name, labels, rest } = readSeries(line)
    const family = this.#present
    if (family?.type === undefined) throw new Error('a sample without TYPE')
    if (!suffixes(family.type, this.#isOpen).some((suffix) => name === family.name + suffix)) {
      throw new Error(`${name} is no sample of ${family.name}, a ${family.type}`)
    }
    if (!NUMBER.test(rest)) throw new Error(`"${rest}" is no number`)
    const key = JSON.stringify([name, inOrder(labels)])
    if (this.#seen.has(key)) throw new Error('the same series again')
    this.#seen.add(key)
    const value = Number(rest.replace('Inf', 'Infinity'))
    if (family.type !== 'gauge' && !name.endsWith('_sum') && !(value >= 0))
      throw new Error('below 0')
    family.samples.push({ name, labels, value })
  }

  #close(): void {
    const family = this.#present
    this.#present = undefined
    if (family === undefined) return
    const { name, type, help, samples } = family
    if (type === undefined || help === undefined) throw new Error(`${name} lacks HELP or TYPE`)
    if (type === 'histogram') checkHistogram(name, samples)
    this.#families.set(name, { name, type, help, samples })
  }
}

function suffixes(type: string, isOpen: boolean): readonly string[] {
  if (type === 'histogram') return ['_bucket', '_sum', '_count']
  return type === 'counter' && isOpen ? ['_total'] : ['']
}

function readSeries(line: string) {
  const [name = ''] = /^[^{ ]+/.exec(line) ?? []
  if (!METRIC_NAME.test(name)) throw new Error(`"${name}" is no name of a metric`)
  const labels: Record<string, string> = {}
  let at = name.length
  if (line[at] === '{') {
    at += 1
    while (line[at] !== '}') {
      const [whole = '', label = '', escaped = ''] =
        /^([^=]+)="((?:[^"\\\n]|\\.)*)"(?:,|(?=\}))/.exec(line.slice(at)) ?? []
      if (!LABEL_NAME.test(label)) throw new Error(`no label at ${at}`)
      if (label in labels) throw new Error(`label ${label} twice`)
      labels[label] = unescaped(escaped, '\\n"')
      at += whole.length
    }
    at += 1
  }
  if (line[at] !== ' ') throw new Error('no space before the number')
  return { name, labels, rest: line.slice(at + 1) }
}

function unescaped(text: string, known: string): string {
  return text.replaceAll(/\\(.?)/gs, (_, character: string) => {
    if (character === '' || !known.includes(character)) throw new Error(`the escape \\${character}`)
    return character === 'n' ? '\n' : character
  })
}

function checkHistogram(name: string, samples: readonly ReadSample[]): void {
  const groups = Map.groupBy(samples, ({ labels: { le: _, ...others } }) => JSON.stringify(others))
  for (const group of groups.values()) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => Number(labels['le']?.replace('Inf', 'Infinity')))
    if (bounds.at(-1) !== Infinity) throw new Error(`${name}: the last bucket is not +Inf`)
    if (bounds.some((bound, index) => !(bound > (bounds[index - 1] ?? -Infinity)))) {
      throw new Error(`${name}: bounds do not rise`)
    }
    const counts = buckets.map(({ value }) => value)
    if (counts.some((count, index) => count < (counts[index - 1] ?? 0))) {
      throw new Error(`${name}: a bucket has less than the one before`)
    }
    const count = group.find((sample) => sample.name === `${name}_count`)?.value
    if (count !== counts.at(-1)) throw new Error(`${name}: _count is not that of +Inf`)
    if (!group.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name}: no _sum`)
  }
}

/** Returns the value of a series; 0 if the family does not have it. @throws {Error} when there is no such family. */
export function valueOf(
  families: ReadonlyMap<string, ReadFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const family = families.get(name) ?? families.get(name.replace(/_(?:sum|count)$/, ''))
  if (family === undefined) throw new Error(`There is no metric ${name}`)
  const wanted = inOrder(labels)
  const found = family.samples.find(
    (sample) => sample.name === name && inOrder(sample.labels) === wanted,
  )
  return found?.value ?? 0
}

/** Formats labels as text, independent of their order. */
function inOrder(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
