import { libraryBuild } from '../../tooling/build/builds.ts'

// The interface of Standard Schema is a few types: whoever uses a tool need not install them.
export default libraryBuild(
  {
    index: 'src/index.ts',
  },
  [/^@standard-schema\/spec$/],
)
