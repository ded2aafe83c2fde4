import { libraryBuild, threadBuild } from '../../tooling/build/builds.ts'
import program from './tsdown.program.ts'

/** Keeps the module that `serve()` loads on demand external: it is an entry point of the program build. */
const lateServer = {
  name: 'late-server',
  resolveId: (id: string) =>
    id === './start/serve-ensembles.ts'
      ? { id: './serve-ensembles.js', external: true }
      : undefined,
}

const library = libraryBuild()

/** The thread of the embedded store, which the program starts. */
const thread = threadBuild({
  'sqlite-thread': '../../packages/runs/src/stores/sqlite/thread/store-thread.ts',
})

export default [{ ...library, plugins: [library.plugins, lateServer] }, program, thread]
