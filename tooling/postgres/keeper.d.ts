/** What a test file asks for. */
export interface KeeperRequest {
    readonly id: number;
    readonly action: 'create' | 'drop' | 'stop' | 'start' | 'kill';
    /** Which database to drop. */
    readonly database?: string;
}
/** What the keeper answers. */
export interface KeeperReply {
    readonly id: number;
    readonly url?: string;
    readonly database?: string;
    readonly error?: string;
}
