import { libraryBuild } from '../../tooling/build/builds.ts'

export default libraryBuild()
