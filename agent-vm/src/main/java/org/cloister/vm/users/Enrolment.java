package org.cloister.vm.users;

import java.io.IOException;

/** Makes members users of this VM and of the Local Slurm. */
public final class Enrolment {
    private static final String SOFTWARE = "software";

    private final Associations associations;
    private final Homes homes;
    private final NameFiles names;

    public Enrolment(Associations associations, Homes homes, NameFiles names) {
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
    public void enter(Members members) throws IOException {
        homes.makeShared(SOFTWARE);
        for (Member member : members.list()) {
            homes.make(member);
        }
        names.write(members);
        associations.add(members);
    }
}
