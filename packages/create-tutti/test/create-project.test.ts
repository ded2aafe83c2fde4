import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { PACKAGE_MANAGERS } from '../src/package-manager.ts'
import { projectFiles } from '../src/template.ts'
import { Workplace } from './create-io.ts'

const ALONE = ['--no-install', '--no-git']

describe('a project', () => {
  it('has every file of the template, under its real name', async () => {
    using place = new Workplace()
    const { exitCode, output, errors } = await place.create(['desk', ...ALONE])
    expect([exitCode, errors]).toEqual([0, ''])
    const written = readdirSync(place.at('desk'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
    expect(written).toHaveLength(
      projectFiles({ name: 'x', packageManager: 'npm', version: '1.0.0' }).length,
    )
    expect(written.filter((name) => name.startsWith('_'))).toEqual([])
    expect(readdirSync(place.at('desk'))).toEqual(
      expect.arrayContaining(['.gitignore', '.env.example', '.dockerignore', 'tutti.config.ts']),
    )
    expect(output).toContain(`Created desk in desk: ${written.length} files`)
  })

  it('depends on the packages of its own release, and on what this repository is tested with', async () => {
    using place = new Workplace()
    await place.create(['desk', ...ALONE])
    const { dependencies, devDependencies } = readJson(place.at('desk/package.json'))
    const { version } = readJson('packages/create-tutti/package.json')
    const ours = Object.entries(dependencies).filter(([name]) => name.startsWith('@tutti/'))
    expect(ours).toHaveLength(6)
    for (const [, range] of ours) expect(range).toBe(`^${version}`)
    const root = readJson('package.json')
    for (const [name, range] of Object.entries(devDependencies)) {
      expect([name, range]).toEqual([name, `^${root.devDependencies[name]}`])
    }
    const catalog = readFileSync('pnpm-workspace.yaml', 'utf8')
    for (const name of ['@langchain/anthropic', '@langchain/openai']) {
      expect(catalog).toContain(`'${name}': ${dependencies[name]?.slice(1)}\n`)
    }
  })

  it('has its name in its manifest and as the title of its README', async () => {
    using place = new Workplace()
    await place.create(['desk', '--name', '@acme/desk', ...ALONE])
    expect(readJson(place.at('desk/package.json')).name).toBe('@acme/desk')
    expect(readFileSync(place.at('desk/README.md'), 'utf8')).toMatch(/^# @acme\/desk\n/)
  })

  it('names only scripts and files that it has', () => {
    const files = projectFiles({ name: 'desk', packageManager: 'npm', version: '1.0.0' })
    const contentOf = (path: string): string =>
      files.find((file) => file.path === path)?.content ?? ''
    const text = ['README.md', 'AGENTS.md', 'Dockerfile'].map(contentOf).join('\n')
    const scripts = [...text.matchAll(/\bnpm (?:run )?(dev|start|test|check|run)\b/g)]
    const { scripts: known } = JSON.parse(contentOf('package.json'))
    expect(scripts.length).toBeGreaterThan(6)
    for (const [, script = ''] of scripts) expect(Object.keys(known)).toContain(script)
    const named = [...text.matchAll(/`((?:src|test)\/[\w./-]+\.ts|[\w-]+\.ts)`/g)]
    expect(named.length).toBeGreaterThan(6)
    const there = files.map(({ path }) => path)
    for (const [, path = ''] of named) {
      expect(there.some((known) => known === path || known.endsWith(`/${path}`))).toBe(true)
    }
  })

  it.each(PACKAGE_MANAGERS)('speaks the words of %s', async (packageManager) => {
    using place = new Workplace()
    const variables = { npm_config_user_agent: `${packageManager}/1.2.3 node/v24.0.0 linux x64` }
    const { output } = await place.create(['desk', ...ALONE], { variables })
    expect(output).toContain(`${packageManager} install\n`)
    expect(output).toContain(`${packageManager} run dev`)
    const texts = ['README.md', 'AGENTS.md', 'Dockerfile'].map((name) =>
      readFileSync(place.at(`desk/${name}`), 'utf8'),
    )
    const words = texts.join('\n').replaceAll('npx --yes', '')
    expect(/\b(?:npm|npx)\b/.test(words)).toBe(packageManager === 'npm')
    // The test runner of Bun is another one than that of the project.
    expect(words).not.toContain('bun test')
  })
})

describe('the place of a project', () => {
  it('is support-desk by default', async () => {
    using place = new Workplace()
    expect((await place.create(ALONE)).exitCode).toBe(0)
    expect(readdirSync(place.path)).toEqual(['support-desk'])
  })

  it('can be the working directory, also with a repository in it', async () => {
    using place = new Workplace()
    mkdirSync(place.at('desk/.git'), { recursive: true })
    const { exitCode, output } = await place.create(['.', ...ALONE], { cwd: place.at('desk') })
    expect(exitCode).toBe(0)
    expect(readJson(place.at('desk/package.json')).name).toBe('desk')
    expect(output).not.toContain('cd ')
  })

  it('is refused when it is not empty, and left as it is', async () => {
    using place = new Workplace()
    mkdirSync(place.at('desk'))
    writeFileSync(place.at('desk/README.md'), 'mine')
    const { exitCode, errors } = await place.create(['desk', ...ALONE])
    expect(exitCode).toBe(1)
    expect(errors).toMatch(
      /^"desk" is not empty: README\.md\. Choose another folder, or say --force/,
    )
    expect(readdirSync(place.at('desk'))).toEqual(['README.md'])
    expect(readFileSync(place.at('desk/README.md'), 'utf8')).toBe('mine')
  })

  it('is written into with --force, where other files stay', async () => {
    using place = new Workplace()
    mkdirSync(place.at('desk'))
    writeFileSync(place.at('desk/README.md'), 'mine')
    writeFileSync(place.at('desk/notes.txt'), 'mine too')
    expect((await place.create(['desk', '--force', ...ALONE])).exitCode).toBe(0)
    expect(readFileSync(place.at('desk/README.md'), 'utf8')).toMatch(/^# desk/)
    expect(readFileSync(place.at('desk/notes.txt'), 'utf8')).toBe('mine too')
  })

  it('is refused below a file', async () => {
    using place = new Workplace()
    writeFileSync(place.at('desk'), '')
    for (const folder of ['desk', 'desk/app']) {
      const { exitCode, errors } = await place.create([folder, ...ALONE])
      expect([exitCode, errors]).toEqual([1, expect.stringContaining('is a file\n')])
    }
  })

  it('is refused, or fails in words, where nobody may write', async () => {
    using place = new Workplace()
    mkdirSync(place.at('shut'))
    chmodSync(place.at('shut'), 0o555)
    // The superuser may write wherever the kernel lets anybody.
    const shut = process.getuid?.() === 0 ? '/proc' : place.at('shut')
    const { exitCode, errors } = await place.create([join(shut, 'desk'), ...ALONE])
    expect(exitCode).toBe(1)
    expect(errors).toMatch(
      /^Cannot (?:create a project at .*: this user may not|write the project:)/,
    )
    expect(errors).not.toContain('    at ')
  })

  it('has nothing half made in it after a failure', async () => {
    using place = new Workplace()
    // In the way of the file src/model.ts, after several that can be written.
    mkdirSync(place.at('desk/src/model.ts'), { recursive: true })
    writeFileSync(place.at('desk/README.md'), 'mine')
    const { exitCode, errors } = await place.create(['desk', '--force', ...ALONE])
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
  ])('is made of the folder "%s"', async (folder, name) => {
    using place = new Workplace()
    const { exitCode } = await place.create([folder, ...ALONE])
    expect(exitCode).toBe(0)
    expect(readJson(place.at(`${folder}/package.json`)).name).toBe(name)
  })

  it.each([
    ['My Desk', 'is no name of a package', 'Say --name, such as --name my-desk'],
    ['.desk', 'is no name of a package', 'Say --name, such as --name desk'],
    ['日本', 'is no name of a package', 'Say --name\n'],
    ['node_modules', 'is a name that npm keeps for itself', 'Say --name'],
    ['x'.repeat(215), 'is longer than 214 characters', 'Say --name'],
  ])('cannot be "%s"', async (name, problem, advice) => {
    using place = new Workplace()
    const { exitCode, errors } = await place.create(['desk', '--name', name, ...ALONE])
    expect(exitCode).toBe(2)
    expect(errors).toContain(problem)
    expect(errors).toContain(advice)
    expect(existsSync(place.at('desk'))).toBe(false)
  })
})

describe('git and the dependencies', () => {
  it('makes a repository, but none inside another', async () => {
    using place = new Workplace()
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

  it('goes on without git, and says so', async () => {
    using place = new Workplace()
    const variables = { PATH: place.path }
    const { exitCode, errors } = await place.create(['desk', '--no-install'], { variables })
    expect(exitCode).toBe(0)
    expect(errors).toBe('There is no git repository: git was not found.\n')
  })

  it('installs with the package manager, in the project', async () => {
    using place = new Workplace()
    const variables = { PATH: fakeProgram(place, 'pnpm', 'echo "$@" > installed') }
    const words = ['desk', '--no-git', '--package-manager', 'pnpm']
    const { exitCode, output } = await place.create(words, { variables })
    expect(exitCode).toBe(0)
    expect(readFileSync(place.at('desk/installed'), 'utf8')).toBe('install\n')
    expect(output).not.toContain('pnpm install')
  })

  it.each([
    ['exit 3', 'npm ended with code 3'],
    ['kill -TERM $$', 'npm was stopped by SIGTERM'],
  ])('keeps the project when the install does "%s"', async (script, reason) => {
    using place = new Workplace()
    const variables = { PATH: fakeProgram(place, 'npm', script) }
    const { exitCode, output, errors } = await place.create(['desk', '--no-git'], { variables })
    expect(exitCode).toBe(1)
    expect(errors).toBe(`The dependencies are not installed: ${reason}.\n`)
    expect(output).toContain('  npm install\n')
    expect(existsSync(place.at('desk/package.json'))).toBe(true)
  })

  it('says so when the package manager is not there', async () => {
    using place = new Workplace()
    const words = ['desk', '--no-git', '--package-manager', 'bun']
    const { exitCode, errors } = await place.create(words, { variables: { PATH: place.path } })
    expect(exitCode).toBe(1)
    expect(errors).toBe('The dependencies are not installed: bun was not found.\n')
  })
})

describe('the command line', () => {
  it('shows its help and its version', async () => {
    using place = new Workplace()
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
  ])('refuses %j, and creates nothing', async (words, problem) => {
    using place = new Workplace()
    const { exitCode, errors } = await place.create(words)
    expect([exitCode, errors]).toEqual([2, expect.stringContaining(problem)])
    expect(readdirSync(place.path)).toEqual([])
  })

  it('says which Node the project needs, where this one is too old for it', async () => {
    using place = new Workplace()
    const { exitCode, errors } = await place.create(ALONE, { nodeVersion: '22.17.1' })
    expect(exitCode).toBe(0)
    expect(errors).toMatch(
      /^The project needs Node 22\.18 or later, .* this is Node 22\.17\.1\.\n$/,
    )
  })
})

/** A folder for PATH in which `program` is a shell script. */
function fakeProgram(place: Workplace, program: string, script: string): string {
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
