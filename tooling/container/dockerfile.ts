/** Reads the subset of Dockerfile syntax that this repository uses; other instructions are rejected. */

export interface Instruction {
  readonly keyword: Keyword
  /** Flags by name, such as `--from=build`. */
  readonly flags: ReadonlyMap<string, readonly string[]>
  /** Text after the flags. */
  readonly text: string
}

/** A stage, which begins with `FROM`. */
export interface Stage {
  readonly base: string
  /** Name from `AS`. */
  readonly name: string | undefined
  readonly instructions: readonly Instruction[]
}

const KEYWORDS = [
  'CMD',
  'COPY',
  'ENTRYPOINT',
  'ENV',
  'EXPOSE',
  'FROM',
  'HEALTHCHECK',
  'LABEL',
  'RUN',
  'STOPSIGNAL',
  'USER',
  'VOLUME',
  'WORKDIR',
] as const

type Keyword = (typeof KEYWORDS)[number]

/** Returns the stages of a Dockerfile. @throws {Error} on an unknown instruction. */
export function readDockerfile(text: string): readonly Stage[] {
  const stages: { base: string; name: string | undefined; instructions: Instruction[] }[] = []
  for (const line of logicalLines(text)) {
    const instruction = readInstruction(line)
    if (instruction.keyword === 'FROM') {
      const [, base = '', name] = /^(\S+)(?: AS (\S+))?$/.exec(instruction.text) ?? []
      stages.push({ base, name, instructions: [] })
    } else {
      const last = stages.at(-1)
      if (last === undefined) throw new Error(`${instruction.keyword} comes before FROM`)
      last.instructions.push(instruction)
    }
  }
  return stages
}

/** Returns lines without comments; a line that ends in a backslash continues in the next. */
function logicalLines(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*(?:#|$)/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
}

function readInstruction(line: string): Instruction {
  const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
  const keyword = KEYWORDS.find((known) => known === word)
  if (keyword === undefined) throw new Error(`Cannot read this line of the Dockerfile: ${line}`)
  const flags = new Map<string, readonly string[]>()
  let text = rest
  for (let found = FLAG.exec(text); found !== null; found = FLAG.exec(text)) {
    const [whole, name = '', value = ''] = found
    flags.set(name, [...(flags.get(name) ?? []), value])
    text = text.slice(whole.length)
  }
  return { keyword, flags, text }
}

const FLAG = /^--([\w-]+)=(\S+)\s+/

/** Parses the JSON form of a command, which runs without a shell. @throws {Error} on the other form. */
export function wordsOf(text: string): readonly string[] {
  const words: unknown = JSON.parse(text)
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words
  throw new Error(`Not the JSON form of a command: ${text}`)
}

/** Parses the pairs of `ENV` and `LABEL`. */
export function pairsOf(text: string): ReadonlyMap<string, string> {
  const pairs = text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)
  return new Map(
    [...pairs].map(([, name = '', quoted, bare = '']): [string, string] => [name, quoted ?? bare]),
  )
}
