/**
 * Executes a Dockerfile in bare folders, without a container engine: each stage is a folder that contains the
 * image's directories. The machine provides the contents of the base image: Node, npm and a shell. A cache
 * mount in the home directory is the machine's own, any other one that of this repository.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, matchesGlob, relative } from 'node:path'

import { pairsOf, readDockerfile, wordsOf, type Instruction, type Stage } from './dockerfile.ts'

/** An image in a folder. */
export interface BareImage {
  /** Folder that stands for `/`. */
  readonly root: string
  readonly base: string
  readonly workdir: string
  readonly environment: ReadonlyMap<string, string>
  readonly labels: ReadonlyMap<string, string>
  /** User and group, such as `10001:10001`. */
  readonly user: string
  readonly volumes: readonly string[]
  readonly ports: readonly string[]
  readonly stopSignal: string
  /** Command of the Dockerfile. */
  readonly command: readonly string[]
  readonly healthcheck: { readonly flags: Instruction['flags']; readonly words: readonly string[] }
  /** Command with image paths replaced by paths in the folder. */
  mapped(text: string): string
}

/** Builds the last stage of the Dockerfile of `repository` in folders below `folder`. */
export function buildBareImage(repository: string, folder: string): BareImage {
  const stages = readDockerfile(readFileSync(join(repository, 'Dockerfile'), 'utf8'))
  const built = new Map<string, Building>()
  let last: Building | undefined
  for (const [index, stage] of stages.entries()) {
    last = newBuilding(stage, join(folder, stage.name ?? `stage-${index}`), stages)
    for (const instruction of stage.instructions) perform(instruction, { repository, last, built })
    if (stage.name !== undefined) built.set(stage.name, last)
  }
  if (last === undefined) throw new Error('The Dockerfile has no stage')
  return imageOf(last)
}

interface Building {
  readonly root: string
  readonly base: string
  readonly environment: Map<string, string>
  readonly labels: Map<string, string>
  readonly volumes: string[]
  readonly ports: string[]
  /** Returns the last occurrence of an instruction; only the last one counts. */
  readonly once: Map<Instruction['keyword'], Instruction>
  mapped(text: string): string
}

function newBuilding({ base }: Stage, root: string, stages: readonly Stage[]): Building {
  mkdirSync(join(root, 'tmp'), { recursive: true })
  chmodSync(join(root, 'tmp'), 0o777)
  const inImage = new RegExp(
    `(?<![\\w.}/])/(?=(?:${directoriesOf(stages).join('|')})(?:/|\\b))`,
    'g',
  )
  return {
    root,
    base,
    environment: new Map(),
    labels: new Map(),
    volumes: [],
    ports: [],
    once: new Map(),
    mapped: (text) => text.replaceAll(inImage, `${root}/`),
  }
}

/** Top-level directories of all paths that the images write to or work in. */
function directoriesOf(stages: readonly Stage[]): readonly string[] {
  const texts = stages.flatMap(({ instructions }) =>
    instructions.filter(({ keyword }) => keyword === 'WORKDIR' || keyword === 'COPY'),
  )
  const paths = texts.flatMap(({ text }) => text.split(' ')).filter((path) => path.startsWith('/'))
  return [...new Set(['tmp', ...paths.map((path) => path.split('/')[1] ?? '')])]
}

interface BuildState {
  readonly repository: string
  readonly last: Building
  readonly built: ReadonlyMap<string, Building>
}

function perform(instruction: Instruction, state: BuildState): void {
  const { keyword, text } = instruction
  const { last } = state
  if (keyword === 'ENV')
    for (const [name, value] of pairsOf(text)) last.environment.set(name, value)
  else if (keyword === 'LABEL')
    for (const [name, value] of pairsOf(text)) last.labels.set(name, value)
  else if (keyword === 'VOLUME') last.volumes.push(...wordsOf(text))
  else if (keyword === 'EXPOSE') last.ports.push(...text.split(' '))
  else if (keyword === 'COPY') copy(instruction, state)
  else if (keyword === 'RUN') runStep(instruction, state)
  else last.once.set(keyword, instruction)
  if (keyword === 'WORKDIR') mkdirSync(last.mapped(text), { recursive: true })
}

function copy({ flags, text }: Instruction, { repository, last, built }: BuildState): void {
  const [source = '', target = '', ...more] = text.split(' ')
  if (more.length > 0) throw new Error(`Cannot copy several sources: ${text}`)
  const [from] = flags.get('from') ?? []
  const path = target.startsWith('/') ? last.mapped(target) : join(workdirOf(last), target)
  if (from === undefined) {
    const isKept = keptBy(join(repository, '.dockerignore'))
    const filter = (path: string): boolean => isKept(relative(repository, path))
    cpSync(join(repository, source), path, { recursive: true, filter })
  } else {
    const stage = built.get(from)
    if (stage === undefined)
      throw new Error(`Cannot copy from "${from}": no earlier stage has that name`)
    cpSync(stage.mapped(source), path, { recursive: true, verbatimSymlinks: true })
  }
  const [owner] = flags.get('chown') ?? []
  // Only root can change the owner; other users keep the folder, and the image then runs as them.
  if (owner !== undefined && process.getuid?.() === 0) {
    execFileSync('chown', ['--recursive', owner, path])
  }
}

/** Returns whether a path of the repository is sent to the build. Later lines win; `!` includes again. */
function keptBy(file: string): (path: string) => boolean {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  return (path) => {
    let kept = true
    for (const line of lines) {
      const pattern = line.replace(/^!/, '')
      if (matchesGlob(path, pattern)) kept = line.startsWith('!')
    }
    return kept
  }
}

/** Variables of the machine that configure its registry. */
const NETWORK = /^(?:https?_proxy|no_proxy|npm_config_registry|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/i

function runStep({ flags, text }: Instruction, { repository, last }: BuildState): void {
  const workdir = workdirOf(last)
  for (const mount of flags.get('mount') ?? []) {
    const [, target = ''] = /^type=cache,target=(\S+)$/.exec(mount) ?? []
    if (target.startsWith('/root/')) continue
    const path = last.mapped(target)
    if (!path.startsWith(`${workdir}/`)) throw new Error(`Cannot mount ${mount}`)
    const own = join(repository, relative(workdir, path))
    mkdirSync(own, { recursive: true })
    mkdirSync(dirname(path), { recursive: true })
    if (!existsSync(path)) symlinkSync(own, path)
  }
  const machine = Object.entries(process.env).filter(([name]) => NETWORK.test(name))
  execFileSync('/bin/sh', ['-c', last.mapped(text)], {
    cwd: workdir,
    env: { ...Object.fromEntries(machine), ...environmentOf(last), HOME: homedir() },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Returns the declared variables and the path of the base image's programs. */
function environmentOf({ environment, mapped }: Building): Readonly<Record<string, string>> {
  const declared = [...environment].map(([name, value]) => [name, mapped(value)])
  const path = [dirname(process.execPath), ...systemPath()].join(delimiter)
  return { ...Object.fromEntries(declared), PATH: path }
}

/** Returns the machine's programs without those of this repository. */
function systemPath(): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.filter((folder) => !folder.includes('node_modules'))
}

function workdirOf({ once, mapped }: Building): string {
  return mapped(once.get('WORKDIR')?.text ?? '/tmp')
}

function imageOf(building: Building): BareImage {
  const { once } = building
  const textOf = (keyword: Instruction['keyword']): string => {
    const text = once.get(keyword)?.text
    if (text === undefined) throw new Error(`The image has no ${keyword}`)
    return text
  }
  return {
    root: building.root,
    base: building.base,
    workdir: textOf('WORKDIR'),
    environment: building.environment,
    labels: building.labels,
    user: textOf('USER'),
    volumes: building.volumes,
    ports: building.ports,
    stopSignal: textOf('STOPSIGNAL'),
    command: [...wordsOf(textOf('ENTRYPOINT')), ...wordsOf(textOf('CMD'))],
    healthcheck: {
      flags: once.get('HEALTHCHECK')?.flags ?? new Map(),
      words: wordsOf(textOf('HEALTHCHECK').replace(/^CMD /, '')),
    },
    mapped: building.mapped,
  }
}
