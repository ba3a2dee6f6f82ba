package org.cloister.preflight;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/** Whether Open vSwitch's database answers on its socket, in the folder that OVS_RUNDIR names. */
record OpenVswitch() implements Check {
    /** The first with a meter table that userspace and kernel datapath share; RHEL 9 and Debian 12 have newer ones. */
    private static final Version OLDEST = new Version(2, 17);

    private static final String START = "systemctl start openvswitch-switch (RHEL: openvswitch), or set OVS_RUNDIR";

    @Override
    public String name() {
        return "open-vswitch";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        Optional<Ran> asked = ask(machine, "--bare", "--columns=ovs_version", "list", "Open_vSwitch");
        if (asked.isEmpty()) {
            return Finding.failure(
                    this, "ovs-vsctl is missing", "apt-get install openvswitch-switch, or dnf install openvswitch");
        }
        Ran answer = asked.get().requireAllowed();
        if (!answer.succeeded()) {
            return Finding.failure(this, answer.complaint().replaceFirst("^ovs-vsctl: ", ""), START);
        }
        Optional<Version> version = Version.in(answer.out());
        if (version.isEmpty()) {
            return Finding.failure(this, "the database answers, but ovs-vswitchd never ran on it", START);
        }
        String text = "Open vSwitch " + answer.answer() + " at " + socket(machine);
        return version.get().compareTo(OLDEST) < 0
                ? Finding.failure(this, text + ", older than " + OLDEST, "install a newer Open vSwitch")
                : Finding.ok(this, text);
    }

    /** Asks the database alone: without {@code --no-wait} a vswitchd that never ran on it is waited for. */
    static Optional<Ran> ask(Machine machine, String... words) throws UnknownException {
        List<String> argv = new ArrayList<>(List.of("ovs-vsctl", "--no-wait", "--db=" + socket(machine)));
        argv.addAll(List.of(words));
        return machine.run(argv);
    }

    private static String socket(Machine machine) {
        return "unix:" + machine.environment("OVS_RUNDIR").orElse("/var/run/openvswitch") + "/db.sock";
    }
}
