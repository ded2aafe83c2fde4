/** Lets agents on the `/tasks` wire, such as those of JamJet, call the ensembles of a server. */
export { jamJet } from './jam-jet.ts'
