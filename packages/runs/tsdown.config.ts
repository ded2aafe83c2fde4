import { libraryBuild, threadBuild } from '../../tooling/build/builds.ts'

export default [
  libraryBuild(),
  threadBuild({ 'sqlite-thread': 'src/stores/sqlite/thread/store-thread.ts' }),
]
