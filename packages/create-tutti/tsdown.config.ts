import { programBuild } from '../../tooling/build/builds.ts'

// NOTE: the program does not run while it is built, so the output of an earlier build can be deleted.
export default { ...programBuild({ 'create-tutti': 'src/main.ts' }, []), clean: true }
