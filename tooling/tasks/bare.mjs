/**
 * Runs the scripts of `package.json` on a machine that has only Node 20 and npm: gets pnpm for the install, installs
 * and builds what has changed, and continues with the project's own Node 24.
 *
 * Plain JavaScript without dependencies, since it runs before anything is installed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const BIN = join(ROOT, 'node_modules', '.bin')
const NODE = join(ROOT, 'node_modules', 'node', 'bin', 'node')
const CACHE = join(ROOT, 'node_modules', '.cache', 'tutti')
const DASHBOARD = join(ROOT, 'apps', 'dashboard')
const SERVER = join(ROOT, 'apps', 'server', 'dist', 'tutti.js')

/** Packages that the program imports, as config files do; see `apps/server/tsdown.program.ts`. */
const SHARED = ['protocol', 'core', 'ensemble']

/** Folders that a build reads. */
const SOURCES = ['packages', 'apps', 'tooling/build', 'tooling/tsconfig']

/** Variables that keep the tools from sending usage data. */
const QUIET = { TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', NO_UPDATE_NOTIFIER: '1' }

const ENV = { ...process.env, ...QUIET, PATH: `${BIN}:${process.env.PATH ?? ''}` }

/** The tests start hundreds of Node processes that load the same modules. */
const TEST_ENV = { ...ENV, NODE_COMPILE_CACHE: join(CACHE, 'compile') }

/** The linter of types is a program in Go: with fewer collections of garbage, it needs a quarter less processor time. */
const CHECK_ENV = { GOGC: '400', GOMEMLIMIT: '3GiB', ...ENV }

const TASKS = {
  start(words) {
    install()
    buildServer()
    return run(NODE, [SERVER, 'start', ...words], process.env)
  },
  test(words) {
    install()
    build()
    run('vitest', ['run', ...words], TEST_ENV)
    return checkTypes()
  },
  check(words) {
    install()
    build()
    return run(NODE, ['tooling/tasks/check.ts', ...words], CHECK_ENV)
  },
  pack() {
    install()
    build()
    return run(NODE, ['tooling/tasks/pack.ts'], ENV)
  },
  'release:dry'(words) {
    install()
    build()
    return run(NODE, ['--conditions=@tutti/source', 'tooling/tasks/release-dry.ts', ...words], ENV)
  },
  bench(words) {
    install()
    build()
    return run(NODE, ['tooling/bench/bench.ts', ...words], ENV)
  },
  screenshots() {
    install()
    build()
    return run(NODE, ['tooling/tasks/screenshots.ts'], ENV)
  },
  recording() {
    install()
    build()
    return run(NODE, ['tooling/tasks/recording.ts'], ENV)
  },
  site(words) {
    install()
    return run(NODE, ['--conditions=@tutti/source', 'tooling/tasks/site.ts', ...words], ENV)
  },
  chaos(words) {
    install()
    build()
    return run(NODE, ['tooling/chaos/chaos.ts', ...words], ENV)
  },
  'chaos:children'(words) {
    install()
    return run(NODE, ['--conditions=@tutti/source', 'tooling/chaos/children.ts', ...words], ENV)
  },
  'chaos:schedules'(words) {
    install()
    return run(NODE, ['--conditions=@tutti/source', 'tooling/chaos/schedules.ts', ...words], ENV)
  },
  scale(words) {
    install()
    build()
    return run(NODE, ['tooling/scale/scale.ts', ...words], ENV)
  },
  fuzz(words) {
    install()
    build()
    return run(NODE, ['--conditions=@tutti/source', 'tooling/fuzz/fuzz.ts', ...words], ENV)
  },
  hostile(words) {
    install()
    build()
    return run(NODE, ['--conditions=@tutti/source', 'tooling/hostile/hostile.ts', ...words], ENV)
  },
  mutants(files) {
    install()
    const folders = new Set(files.map((file) => file.split('/', 2).join('/')))
    const env = { TUTTI_MUTANTS_TESTS: [...folders].join(), ...ENV }
    const config = 'tooling/mutants/stryker.config.mjs'
    return run('stryker', ['run', config, '--mutate', files.join()], env)
  },
  counts(words) {
    install()
    return run(NODE, ['tooling/tasks/counts.ts', ...words], ENV)
  },
  gen() {
    install()
    return run(NODE, ['--conditions=@tutti/source', 'tooling/tasks/generate.ts'], ENV)
  },
  build() {
    install()
    build()
  },
}

const [name = '', ...words] = process.argv.slice(2)
const task = TASKS[name]
if (task === undefined) {
  console.error(`Unknown task "${name}". Known: ${Object.keys(TASKS).join(', ')}`)
  process.exit(2)
}
await task(words)

/** Installs the dependencies unless those of the lockfile are installed. */
function install() {
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()]
  unlessSame('install', { signature: contentOf(files), present: existsSync(NODE) }, () => {
    say('Installing dependencies')
    pnpm(['install', '--frozen-lockfile'])
  })
}

/** Builds every package unless the sources are those of the last build. */
function build() {
  const signature = statsOf(SOURCES)
  unlessSame('build', { signature, present: everyPackageIsBuilt() }, () => {
    say('Building')
    // turbo runs the scripts of packages with the pnpm that it finds on its PATH.
    pnpm(['exec', 'turbo', 'run', 'build', '--output-logs=errors-only', '--log-order=grouped'])
    stamp('build-server', signature)
  })
  // Pages change more often than sources, and copying them takes no time.
  must(NODE, ['tooling/tasks/write-package-docs.ts'])
}

/** Builds the server, its page and the packages that it shares with config files, without types. */
function buildServer() {
  const shared = [...SHARED.reduce(addWithDependencies, new Set())].map((name) =>
    join(ROOT, 'packages', name),
  )
  const page = join(ROOT, 'apps', 'server', 'dist', 'dashboard', 'index.html')
  const present =
    existsSync(SERVER) && existsSync(page) && shared.every((path) => existsSync(join(path, 'dist')))
  unlessSame('build-server', { signature: statsOf(SOURCES), present }, () => {
    say('Building the server')
    for (const path of shared) must('tsdown', ['--no-dts', '--log-level', 'warn'], path)
    must(
      join(DASHBOARD, 'node_modules', '.bin', 'vite'),
      ['build', '--logLevel', 'warn'],
      DASHBOARD,
    )
    must(
      'tsdown',
      ['--config', 'tsdown.program.ts', '--log-level', 'warn'],
      join(ROOT, 'apps', 'server'),
    )
  })
}

/** Adds a package to `found`, after those of the workspace that it needs. */
function addWithDependencies(found, name) {
  if (found.has(name)) return found
  const manifest = readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8')
  for (const needed of Object.keys(JSON.parse(manifest).dependencies ?? {})) {
    if (needed.startsWith('@tutti/')) addWithDependencies(found, needed.slice('@tutti/'.length))
  }
  return found.add(name)
}

/** Does `work` unless its result is present and was made with the same signature. */
function unlessSame(name, { signature, present }, work) {
  const path = join(CACHE, name)
  if (present && existsSync(path) && readFileSync(path, 'utf8') === signature) return
  work()
  stamp(name, signature)
}

/** Records the signature of finished work. */
function stamp(name, signature) {
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(join(CACHE, name), signature)
}

function everyPackageIsBuilt() {
  return manifests()
    .filter((path) => /^(packages|apps)/.test(path))
    .every((path) => existsSync(join(ROOT, dirname(path), 'dist')))
}

function manifests() {
  const folders = ['packages', 'apps', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => join(folder, name, 'package.json')),
  )
  return ['package.json', ...folders.filter((path) => existsSync(join(ROOT, path)))]
}

function contentOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(path).update(readFileSync(join(ROOT, path)))
  return hash.digest('hex')
}

/** Hashes names, sizes and times of the files below `folders`, without those that builds and installs write. */
function statsOf(folders) {
  const hash = createHash('sha256')
  const walk = (path) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (['node_modules', 'dist', '.turbo', '.tutti', 'test', 'fixtures'].includes(entry.name))
        continue
      const child = join(path, entry.name)
      if (entry.isDirectory()) walk(child)
      else if (!/\.(test|test-d)\.ts$|\.md$/.test(entry.name)) {
        const { size, mtimeMs } = statSync(child)
        hash.update(`${relative(ROOT, child)} ${size} ${mtimeMs}\n`)
      }
    }
  }
  for (const folder of folders) walk(join(ROOT, folder))
  return hash.digest('hex')
}

/**
 * Runs pnpm, in the version that package.json names, from npm's cache or the registry. It checks engines against the
 * project's own Node and never prompts.
 */
function pnpm(args) {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const { packageManager, devDependencies } = manifest
  // npm does not find a version with its checksum in its cache, and asks the registry at each call.
  const [version] = packageManager.split('+')
  const settings = [
    `--config.nodeVersion=${devDependencies.node}`,
    '--config.confirmModulesPurge=false',
  ]
  must('npx', ['--yes', '--prefer-offline', version, ...settings, ...args])
}

/** Runs a program and waits for it; exits when it fails. */
function must(program, args, cwd = ROOT) {
  const { status, error } = spawnSync(program, args, { cwd, env: ENV, stdio: 'inherit' })
  if (error !== undefined) console.error(`Cannot run ${program}: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

/** Checks types in the background. At the end of this process, it prints what the compiler says, and fails if it failed. */
async function checkTypes() {
  for (const project of ['tsconfig.json', 'apps/dashboard/tsconfig.json']) {
    const child = spawn('tsc', ['-p', project], {
      cwd: ROOT,
      env: ENV,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
    const [code] = await once(child, 'close')
    if (code === 0) continue
    process.on('exit', () => {
      console.error(`${output}The type check of ${project} failed`)
      process.exitCode ||= 1
    })
  }
}

/** Runs a program in the foreground, forwards signals to it, and exits with its code. */
function run(program, args, env) {
  const child = spawn(program, args, { cwd: ROOT, env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // npm does not forward SIGKILL and SIGHUP: the program would continue without it.
  const parent = process.ppid
  const isScript = process.env.npm_lifecycle_event !== undefined && parent !== 1
  const watch = setInterval(() => {
    if (!isScript || process.ppid === parent) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, 500)
  watch.unref()
  child.on('error', (error) => {
    console.error(`Cannot run ${program}: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' || signal === 'SIGTERM' ? 0 : 1)
  })
}

function say(text) {
  console.error(`${text} …`)
}
