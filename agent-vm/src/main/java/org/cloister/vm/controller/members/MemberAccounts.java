package org.cloister.vm.controller.members;

import java.io.IOException;
import org.cloister.vm.system.users.PasswdFiles;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;

/** Creates members' accounts in this VM and in the Local Slurm. */
public final class MemberAccounts {
    private static final String SOFTWARE = "software";

    private final SlurmAssociations associations;
    private final MemberHomes homes;
    private final PasswdFiles names;

    public MemberAccounts(SlurmAssociations associations, MemberHomes homes, PasswdFiles names) {
        this.associations = associations;
        this.homes = homes;
        this.names = names;
    }

    /**
     * Creates what is missing for all members. Associations come last: slurmctld looks up a member's UID when it learns
     * of one. A member who left loses only the name; files and accounting records remain. May be called again, however
     * the last call ended.
     *
     * @throws IOException if slurmdbd does not respond, or something else is in a member's place
     */
    public void create(ProjectMembers members) throws IOException {
        homes.createSharedFolder(SOFTWARE);
        for (ProjectMember member : members.list()) {
            homes.createHome(member);
        }
        names.write(members);
        associations.add(members);
    }
}
