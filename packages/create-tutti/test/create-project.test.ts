import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { PACKAGE_MANAGERS } from '../src/package-manager.ts'
import { createProjectFiles } from '../src/template.ts'
import { TestFolder } from './create-io.ts'

const FILES_ONLY = ['--no-install', '--no-git']

describe('a project', () => {
  it('A project has every file of the template, under its final name', async () => {
    using place = new TestFolder()
    const { exitCode, output, errors } = await place.create(['desk', ...FILES_ONLY])
    expect([exitCode, errors]).toEqual([0, ''])
    const written = readdirSync(place.at('desk'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
    expect(written).toHaveLength(
      createProjectFiles({ name: 'x', packageManager: 'npm', version: '1.0.0' }).length,
    )
    expect(written.filter((name) => name.startsWith('_'))).toEqual([])
    expect(readdirSync(place.at('desk'))).toEqual(
      expect.arrayContaining(['.gitignore', '.env.example', '.dockerignore', 'tutti.config.ts']),
    )
    expect(output).toContain(`Created desk in desk: ${written.length} files`)
  })

  it('A project depends on the packages of the same release, and on the versions that this repository is tested with', async () => {
    using place = new TestFolder()
    await place.create(['desk', ...FILES_ONLY])
    const { dependencies, devDependencies } = readJson(place.at('desk/package.json'))
    const { version } = readJson('packages/create-tutti/package.json')
    const tuttiPackages = Object.entries(dependencies).filter(([name]) =>
      name.startsWith('@tutti/'),
    )
    expect(tuttiPackages).toHaveLength(6)
    for (const [, range] of tuttiPackages) expect(range).toBe(`^${version}`)
    const root = readJson('package.json')
    for (const [name, range] of Object.entries(devDependencies)) {
      expect([name, range]).toEqual([name, `^${root.devDependencies[name]}`])
    }
    const catalog = readFileSync('pnpm-workspace.yaml', 'utf8')
    for (const name of ['@langchain/anthropic', '@langchain/openai']) {
      expect(catalog).toContain(`'${name}': ${dependencies[name]?.slice(1)}\n`)
    }
  })

  it('A project has its name in the manifest and in the title of the README', async () => {
    using place = new TestFolder()
    await place.create(['desk', '--name', '@acme/desk', ...FILES_ONLY])
    expect(readJson(place.at('desk/package.json')).name).toBe('@acme/desk')
    expect(readFileSync(place.at('desk/README.md'), 'utf8')).toMatch(/^# @acme\/desk\n/)
  })

  it('A project refers only to scripts and files that exist', () => {
    const files = createProjectFiles({ name: 'desk', packageManager: 'npm', version: '1.0.0' })
    const readContent = (path: string): string =>
      files.find((file) => file.path === path)?.content ?? ''
    const text = ['README.md', 'AGENTS.md', 'Dockerfile'].map(readContent).join('\n')
    const scripts = [...text.matchAll(/\bnpm (?:run )?(dev|start|test|check|run)\b/g)]
    const { scripts: known } = JSON.parse(readContent('package.json'))
    expect(scripts.length).toBeGreaterThan(6)
    for (const [, script = ''] of scripts) expect(Object.keys(known)).toContain(script)
    const named = [...text.matchAll(/`((?:src|test)\/[\w./-]+\.ts|[\w-]+\.ts)`/g)]
    expect(named.length).toBeGreaterThan(6)
    const paths = files.map(({ path }) => path)
    for (const [, path = ''] of named) {
      expect(paths.some((known) => known === path || known.endsWith(`/${path}`))).toBe(true)
    }
  })

  it.each(PACKAGE_MANAGERS)('A project uses the commands of %s', async (packageManager) => {
    using place = new TestFolder()
    const variables = { npm_config_user_agent: `${packageManager}/1.2.3 node/v24.0.0 linux x64` }
    const { output } = await place.create(['desk', ...FILES_ONLY], { variables })
    expect(output).toContain(`${packageManager} install\n`)
    expect(output).toContain(`${packageManager} run dev`)
    const texts = ['README.md', 'AGENTS.md', 'Dockerfile'].map((name) =>
      readFileSync(place.at(`desk/${name}`), 'utf8'),
    )
    const commands = texts.join('\n').replaceAll('npx --yes', '')
    expect(/\b(?:npm|npx)\b/.test(commands)).toBe(packageManager === 'npm')
    // "bun test" starts Bun's own test runner, not that of the project.
    expect(commands).not.toContain('bun test')
  })
})

describe('the folder of a project', () => {
  it('The folder of a project is support-desk by default', async () => {
    using place = new TestFolder()
    expect((await place.create(FILES_ONLY)).exitCode).toBe(0)
    expect(readdirSync(place.path)).toEqual(['support-desk'])
  })

  it('The folder of a project can be the working directory, even if it contains a repository', async () => {
    using place = new TestFolder()
    mkdirSync(place.at('desk/.git'), { recursive: true })
    const { exitCode, output } = await place.create(['.', ...FILES_ONLY], { cwd: place.at('desk') })
    expect(exitCode).toBe(0)
    expect(readJson(place.at('desk/package.json')).name).toBe('desk')
    expect(output).not.toContain('cd ')
  })

  it('The folder of a project is rejected and not changed when it is not empty', async () => {
    using place = new TestFolder()
    mkdirSync(place.at('desk'))
    writeFileSync(place.at('desk/README.md'), 'mine')
    const { exitCode, errors } = await place.create(['desk', ...FILES_ONLY])
    expect(exitCode).toBe(1)
    expect(errors).toMatch(
      /^"desk" is not empty: README\.md\. Choose another folder, or use --force/,
    )
    expect(readdirSync(place.at('desk'))).toEqual(['README.md'])
    expect(readFileSync(place.at('desk/README.md'), 'utf8')).toBe('mine')
  })

  it('The folder of a project is written into with --force, and other files stay', async () => {
    using place = new TestFolder()
    mkdirSync(place.at('desk'))
    writeFileSync(place.at('desk/README.md'), 'mine')
    writeFileSync(place.at('desk/notes.txt'), 'mine too')
    expect((await place.create(['desk', '--force', ...FILES_ONLY])).exitCode).toBe(0)
    expect(readFileSync(place.at('desk/README.md'), 'utf8')).toMatch(/^# desk/)
    expect(readFileSync(place.at('desk/notes.txt'), 'utf8')).toBe('mine too')
  })

  it('The folder of a project is rejected when it is, or is below, a file', async () => {
    using place = new TestFolder()
    writeFileSync(place.at('desk'), '')
    for (const folder of ['desk', 'desk/app']) {
      const { exitCode, errors } = await place.create([folder, ...FILES_ONLY])
      expect([exitCode, errors]).toEqual([1, expect.stringContaining('is a file\n')])
    }
  })

  it('The folder of a project is rejected with a message when it is not writable', async () => {
    using place = new TestFolder()
    mkdirSync(place.at('shut'))
    chmodSync(place.at('shut'), 0o555)
    // Permissions do not apply to the superuser.
    const shut = process.getuid?.() === 0 ? '/proc' : place.at('shut')
    const { exitCode, errors } = await place.create([join(shut, 'desk'), ...FILES_ONLY])
    expect(exitCode).toBe(1)
    expect(errors).toMatch(/^Cannot (?:create a project at .*: no permission|write the project:)/)
    expect(errors).not.toContain('    at ')
  })

  it('The folder of a project is restored after a failure', async () => {
    using place = new TestFolder()
    // Blocks the file src/model.ts, after several files have been written.
    mkdirSync(place.at('desk/src/model.ts'), { recursive: true })
    writeFileSync(place.at('desk/README.md'), 'mine')
    const { exitCode, errors } = await place.create(['desk', '--force', ...FILES_ONLY])
    expect([exitCode, errors]).toEqual([
      1,
      expect.stringMatching(/^Cannot write the project: EISDIR/),
    ])
    expect(new Set(readdirSync(place.at('desk'), { recursive: true, encoding: 'utf8' }))).toEqual(
      new Set(['README.md', 'src', join('src', 'model.ts')]),
    )
    expect(readFileSync(place.at('desk/README.md'), 'utf8')).toBe('mine')
  })
})

describe('the name of a project', () => {
  it.each([
    ['My Desk', 'my-desk'],
    ['Größe', 'gro-e'],
    ['_hidden', 'hidden'],
    ['v1.2', 'v1.2'],
  ])('The name of a project is derived from the folder "%s"', async (folder, name) => {
    using place = new TestFolder()
    const { exitCode } = await place.create([folder, ...FILES_ONLY])
    expect(exitCode).toBe(0)
    expect(readJson(place.at(`${folder}/package.json`)).name).toBe(name)
  })

  it.each([
    ['My Desk', 'is not a valid package name', 'Set --name, such as --name my-desk'],
    ['.desk', 'is not a valid package name', 'Set --name, such as --name desk'],
    ['日本', 'is not a valid package name', 'Set --name\n'],
    ['node_modules', 'is a name that npm reserves', 'Set --name'],
    ['x'.repeat(215), 'is longer than 214 characters', 'Set --name'],
  ])('The name of a project cannot be "%s"', async (name, problem, advice) => {
    using place = new TestFolder()
    const { exitCode, errors } = await place.create(['desk', '--name', name, ...FILES_ONLY])
    expect(exitCode).toBe(2)
    expect(errors).toContain(problem)
    expect(errors).toContain(advice)
    expect(existsSync(place.at('desk'))).toBe(false)
  })
})

describe('git and the dependencies', () => {
  it('`create-tutti` creates a repository, but not inside another one', async () => {
    using place = new TestFolder()
    expect((await place.create(['desk', '--no-install'])).errors).toBe('')
    expect(existsSync(place.at('desk/.git'))).toBe(true)
    await place.create(['desk/inner', '--no-install'])
    expect(existsSync(place.at('desk/inner/.git'))).toBe(false)
    const ignored = spawnSync('git', ['check-ignore', '.env', 'node_modules/x', '.env.example'], {
      cwd: place.at('desk'),
      encoding: 'utf8',
    })
    expect(ignored.stdout).toBe('.env\nnode_modules/x\n')
  })

  it('`create-tutti` continues without git, and reports it', async () => {
    using place = new TestFolder()
    const variables = { PATH: place.path }
    const { exitCode, errors } = await place.create(['desk', '--no-install'], { variables })
    expect(exitCode).toBe(0)
    expect(errors).toBe('Failed to create a git repository: git was not found.\n')
  })

  it('`create-tutti` installs the dependencies with the package manager', async () => {
    using place = new TestFolder()
    const variables = { PATH: fakeProgram(place, 'pnpm', 'echo "$@" > installed') }
    const args = ['desk', '--no-git', '--package-manager', 'pnpm']
    const { exitCode, output } = await place.create(args, { variables })
    expect(exitCode).toBe(0)
    expect(readFileSync(place.at('desk/installed'), 'utf8')).toBe('install\n')
    expect(output).not.toContain('pnpm install')
  })

  it.each([
    ['exit 3', 'npm exited with code 3'],
    ['kill -TERM $$', 'npm was stopped by SIGTERM'],
  ])('`create-tutti` keeps the project when the installation does "%s"', async (script, reason) => {
    using place = new TestFolder()
    const variables = { PATH: fakeProgram(place, 'npm', script) }
    const { exitCode, output, errors } = await place.create(['desk', '--no-git'], { variables })
    expect(exitCode).toBe(1)
    expect(errors).toBe(`Failed to install the dependencies: ${reason}.\n`)
    expect(output).toContain('  npm install\n')
    expect(existsSync(place.at('desk/package.json'))).toBe(true)
  })

  it('`create-tutti` reports a missing package manager', async () => {
    using place = new TestFolder()
    const args = ['desk', '--no-git', '--package-manager', 'bun']
    const { exitCode, errors } = await place.create(args, { variables: { PATH: place.path } })
    expect(exitCode).toBe(1)
    expect(errors).toBe('Failed to install the dependencies: bun was not found.\n')
  })
})

describe('the command line', () => {
  it('The command line prints the help and the version', async () => {
    using place = new TestFolder()
    const help = await place.create(['--help'])
    expect([help.exitCode, help.errors]).toEqual([0, ''])
    for (const option of ['--yes', '--name', '--package-manager', '--no-install', '--force']) {
      expect(help.output).toContain(option)
    }
    const { version } = readJson('packages/create-tutti/package.json')
    expect(await place.create(['--version'])).toEqual({
      exitCode: 0,
      output: `${version}\n`,
      errors: '',
    })
  })

  it.each([
    [['--foo'], "unknown option '--foo'"],
    [['a', 'b'], 'too many arguments'],
    [['--package-manager', 'cargo'], 'Allowed choices are npm, pnpm, yarn, bun'],
  ])('The command line rejects %j, and creates no project', async (args, problem) => {
    using place = new TestFolder()
    const { exitCode, errors } = await place.create(args)
    expect([exitCode, errors]).toEqual([2, expect.stringContaining(problem)])
    expect(readdirSync(place.path)).toEqual([])
  })
})

/** Returns a folder for PATH in which `program` is a shell script. */
function fakeProgram(place: TestFolder, program: string, script: string): string {
  mkdirSync(place.at('bin'))
  writeFileSync(place.at(`bin/${program}`), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return place.at('bin')
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

function readJson(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8'))
}
