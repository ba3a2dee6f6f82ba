package org.cloister.preflight;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks that Open vSwitch's database answers on its socket, in the folder that OVS_RUNDIR names. */
record OpenVswitchCheck() implements PreflightCheck {
    /** The first with a meter table that userspace and kernel datapath share; RHEL 9 and Debian 12 have newer ones. */
    private static final MajorMinorVersion OLDEST = new MajorMinorVersion(2, 17);

    private static final String START = "systemctl start openvswitch-switch (RHEL: openvswitch), or set OVS_RUNDIR";

    @Override
    public String name() {
        return "open-vswitch";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<ProgramResult> result =
                queryDatabase(machine, "--bare", "--columns=ovs_version", "list", "Open_vSwitch");
        if (result.isEmpty()) {
            return PreflightFinding.failure(
                    this, "ovs-vsctl is missing", "apt-get install openvswitch-switch, or dnf install openvswitch");
        }
        ProgramResult answer = result.get().requirePermitted();
        if (!answer.succeeded()) {
            return PreflightFinding.failure(this, answer.firstErrorLine().replaceFirst("^ovs-vsctl: ", ""), START);
        }
        Optional<MajorMinorVersion> version = MajorMinorVersion.parseFirst(answer.out());
        if (version.isEmpty()) {
            return PreflightFinding.failure(this, "the database answers, but ovs-vswitchd never ran on it", START);
        }
        String text = "Open vSwitch " + answer.firstOutputLine() + " at " + socket(machine);
        return version.get().compareTo(OLDEST) < 0
                ? PreflightFinding.failure(this, text + ", older than " + OLDEST, "install a newer Open vSwitch")
                : PreflightFinding.ok(this, text);
    }

    /**
     * Queries the database alone: without {@code --no-wait}, ovs-vsctl would wait for a vswitchd that never ran on it.
     */
    static Optional<ProgramResult> queryDatabase(InspectedMachine machine, String... arguments)
            throws UndeterminedException {
        List<String> argv = new ArrayList<>(List.of("ovs-vsctl", "--no-wait", "--db=" + socket(machine)));
        argv.addAll(List.of(arguments));
        return machine.run(argv);
    }

    private static String socket(InspectedMachine machine) {
        return "unix:" + machine.environment("OVS_RUNDIR").orElse("/var/run/openvswitch") + "/db.sock";
    }
}
