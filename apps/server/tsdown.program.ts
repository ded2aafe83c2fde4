/** The server as one file, from sources. */
import { programBuild } from '../../tooling/build/builds.ts'

export default programBuild({ tutti: 'src/main.ts' }, [/^langchain/, /^@langchain\//, /^pg$/])
