import { libraryBuild } from '../../tooling/build/builds.ts'

// The checker of TypeBox is 164 files; the schemas stay TypeBox's own, shared with whoever imports it.
export default libraryBuild({ index: 'src/index.ts' }, [/^typebox\/schema$/])
