import { libraryBuild } from '../../tooling/build/builds.ts'

export default {
  ...libraryBuild(),
  // The stubs of `./testing` are Node servers; the main entry point imports nothing of Node.
  platform: 'node' as const,
}
