import { programBuild } from '../../tooling/build/builds.ts'

export default programBuild({ 'create-tutti': 'src/main.ts' }, [])
