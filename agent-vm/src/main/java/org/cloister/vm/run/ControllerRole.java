package org.cloister.vm.run;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.ipsec.Esp;
import org.cloister.luks.key.Crypto;
import org.cloister.luks.secret.Secrets;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.protocol.handover.Assignment;
import org.cloister.vm.LocalMachine;
import org.cloister.vm.VmMetrics;
import org.cloister.vm.boot.Begun;
import org.cloister.vm.boot.Believed;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.machine.PowerOff;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.machine.SystemdServices;

/** What a VM needs to be a project's controlling VM, put together. */
final class ControllerRole {
    private static final Path ETC = Path.of("/etc");
    private static final Path CONFIG = ETC.resolve("cloister/controller.toml");

    private final Secrets secrets;
    private final Path run;
    private final Begun begun;
    private final Reports reports;
    private final VmMetrics metrics;

    /** @param run a folder on tmpfs */
    ControllerRole(Secrets secrets, Path run, Begun begun, Reports reports, VmMetrics metrics) {
        this.secrets = secrets;
        this.run = run;
        this.begun = begun;
        this.reports = reports;
        this.metrics = metrics;
    }

    /** @throws IOException if this VM has not what it takes, or can make no certificate for its name */
    ControllingVm begin(Assignment assignment, BootKeyPairs keys, Believed believed) throws IOException {
        Programs programs = Programs.ofThisMachine();
        PowerOff off = new PowerOff(programs);
        Ending ending = new Ending(why -> off.begin(), why -> off.atOnce());
        return new ControllingVm(assignment, keys, believed, equipment(programs), reports, begun, ending);
    }

    /** Of an agent before this one, whose keys are gone. */
    void endOrphan() {
        Programs programs = Programs.ofThisMachine();
        OrphanedProject.of(programs, services(programs), secrets, run).end();
    }

    private Equipment equipment(Programs programs) throws IOException {
        return new Equipment(
                programs,
                Crypto.load(secrets),
                Cryptsetup.load(),
                services(programs),
                LocalMachine.load(CONFIG),
                metrics,
                run,
                ETC,
                Esp.KERNEL);
    }

    private static SystemdServices services(Programs programs) {
        return new SystemdServices(programs, Path.of("/run/systemd/system"));
    }
}
