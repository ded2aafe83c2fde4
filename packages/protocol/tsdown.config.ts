import { libraryBuild } from '../../tooling/build/builds.ts'

// The checker of TypeBox is 164 files; the schemas remain those of the shared TypeBox package.
const build = libraryBuild([/^typebox\/schema$/])

// Its types stay TypeBox's own too: taken in, they would be half of what an editor reads.
export default { ...build, deps: { ...build.deps, dts: { neverBundle: [/^typebox/] } } }
