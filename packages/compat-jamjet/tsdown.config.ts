import { libraryBuild } from '../../tooling/build/builds.ts'

export default libraryBuild({
  index: 'src/index.ts',
  'connector/index': 'src/connector/index.ts',
})
