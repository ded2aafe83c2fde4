import { programBuild } from '../../tooling/build/builds.ts'

// NOTE: nobody runs this program while it is built, so what an earlier build left can go.
export default { ...programBuild({ 'create-tutti': 'src/main.ts' }, []), clean: true }
