package org.cloister.lab.booted;

import java.io.IOException;
import java.util.List;

/**
 * The storage of drives that several hosts share, as their administrator sets it up: a folder of one machine, by NFS 4.
 */
final class BootedStorage {
    /** Mount point on the hosts, as in the guide. */
    private static final String MOUNTED = "/srv/cloister/drives";

    private BootedStorage() {}

    static void share(BootedMachine server, List<BootedMachine> hosts) throws IOException {
        server.write(
                "/etc/exports.d/drives.exports",
                "/srv/drives " + BootedNetwork.PREFIX + "0/24(rw,sync,no_root_squash,no_subtree_check)\n");
        server.succeed("mkdir -p /srv/drives && systemctl add-wants multi-user.target nfs-server"
                + " && systemctl restart nfs-server");
        String line = server.name() + ":/srv/drives " + MOUNTED + " nfs4 hard,nofail 0 0";
        for (BootedMachine host : hosts) {
            host.succeed("mkdir -p " + MOUNTED + " && echo '" + line + "' >>/etc/fstab && systemctl daemon-reload"
                    + " && mount " + MOUNTED);
        }
    }
}
