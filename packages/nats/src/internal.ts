/** For the other packages of Tutti only: its names may change in every version. */
export { readClusterState } from './read-cluster-state.ts'
