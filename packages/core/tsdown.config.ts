import { libraryBuild } from '../../tooling/build/builds.ts'

// The interface of Standard Schema is a few types; users of a tool need not install its package.
export default libraryBuild([/^@standard-schema\/spec$/])
