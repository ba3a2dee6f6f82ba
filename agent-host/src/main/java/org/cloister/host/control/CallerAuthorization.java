package org.cloister.host.control;

import java.io.IOException;
import java.util.OptionalInt;

/**
 * Decides which caller may make which request, by the peer credentials from the kernel.
 *
 * @param group whose members may query and stop VMs, as root may; empty for root only
 * @param account the user whose job steps may run VMs
 */
record CallerAuthorization(OptionalInt group, int account) {
    private static final int ROOT = 0;

    /**
     * Resolves the group and the account.
     *
     * @throws IOException if this host does not know one of them
     */
    static CallerAuthorization of(String group, String account) throws IOException {
        return new CallerAuthorization(OptionalInt.of(SystemAccounts.group(group)), SystemAccounts.user(account));
    }

    /**
     * Requires one of the permitted callers. The server does not even read requests of others, who could otherwise keep
     * permitted callers waiting.
     */
    void requireEither(PeerCredentials peer) throws OperationRefused {
        if (peer.uid() != account) {
            requireOperator(peer);
        }
    }

    void requireOperator(PeerCredentials peer) throws OperationRefused {
        boolean member = group.isPresent() && peer.groups().contains(group.getAsInt());
        if (peer.uid() != ROOT && !member) {
            throw new OperationRefused(
                    "user " + peer.uid() + " may not use agent-host: only root and members of its group"
                            + (group.isPresent() ? " (" + group.getAsInt() + ")" : "") + " may",
                    "run the command as root, or check the group's name in agent-host.toml");
        }
    }

    void requireAccount(PeerCredentials peer) throws OperationRefused {
        if (peer.uid() != account) {
            throw new OperationRefused(
                    "user " + peer.uid() + " may not run VMs: only job steps of user " + account + " may",
                    "set slurm.account in agent-host.toml to the user as whom the relay submits jobs");
        }
    }
}
