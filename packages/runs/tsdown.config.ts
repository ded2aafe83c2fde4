import { libraryBuild } from '../../tooling/build/builds.ts'

export default libraryBuild({
  index: 'src/index.ts',
  'postgres/index': 'src/stores/postgres/index.ts',
  'testing/index': 'src/testing/index.ts',
})
