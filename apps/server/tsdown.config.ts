import { libraryBuild } from '../../tooling/build/builds.ts'
import program from './tsdown.program.ts'

export default [libraryBuild({ index: 'src/index.ts' }), program]
