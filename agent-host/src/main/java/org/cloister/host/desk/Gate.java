package org.cloister.host.desk;

import java.io.IOException;
import java.util.OptionalInt;

/**
 * Who may ask for what, by the kernel's word alone.
 *
 * @param group whose members may look and stop, as root may; empty for root alone
 * @param account the user whose job steps may run VMs
 */
record Gate(OptionalInt group, int account) {
    private static final int ROOT = 0;

    /** @throws IOException if this host does not know one of them */
    static Gate of(String group, String account) throws IOException {
        return new Gate(OptionalInt.of(Accounts.group(group)), Accounts.user(account));
    }

    /** Others are not even read: they could keep who may ask from asking. */
    void requireEither(Peer peer) throws WorkRefused {
        if (peer.uid() != account) {
            requireOperator(peer);
        }
    }

    void requireOperator(Peer peer) throws WorkRefused {
        boolean member = group.isPresent() && peer.groups().contains(group.getAsInt());
        if (peer.uid() != ROOT && !member) {
            throw new WorkRefused(
                    "agent-host: want root or a member of its group"
                            + (group.isPresent() ? " (" + group.getAsInt() + ")" : "") + ", have user " + peer.uid(),
                    "ask as root, or have the group's name in agent-host.toml looked at");
        }
    }

    void requireAccount(Peer peer) throws WorkRefused {
        if (peer.uid() != account) {
            throw new WorkRefused(
                    "agent-host: want a job step of user " + account + ", have a process of user " + peer.uid(),
                    "tickets' jobs are the relay's: set account in agent-host.toml to its user");
        }
    }
}
