package org.cloister.vm.controller.members;

import java.io.IOException;
import org.cloister.vm.system.users.PasswdFiles;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;

/** Makes members users of this VM and of the Local Slurm. */
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
     * Associations come last: slurmctld asks for a member's uid when it hears of one. Who left loses the name alone; files, and
     * what was accounted, stay. May be called again, after whatever happened to the last call.
     *
     * @throws IOException if slurmdbd does not answer, or something stands in a member's place
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
