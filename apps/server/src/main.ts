#!/usr/bin/env node
/**
 * The `tutti` program. It checks the version of Node before it loads the rest, which an old version cannot even parse,
 * so it has no static imports. Node caches the compiled code on disk.
 */

/** Oldest supported version of Node; a test compares it with `engines` of the package. */
const NEEDED = [22, 18] as const

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  process.stderr.write(
    `tutti needs Node ${NEEDED.join('.')} or later, but this is Node ${process.versions.node}. ` +
      'Install a current Node: https://nodejs.org\n',
  )
  process.exitCode = 1
} else {
  if (process.argv[2] === 'start') {
    const { compileOnMainThread } = await import('./start/compile-on-main-thread.ts')
    compileOnMainThread()
  }
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  const { setExitCode, terminalIo, runCommand } = await import('./cli/index.ts')
  setExitCode(await runCommand(process.argv.slice(2), terminalIo()))
}

export {}
