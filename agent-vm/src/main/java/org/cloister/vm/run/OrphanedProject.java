package org.cloister.vm.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.cloister.ipsec.Esp;
import org.cloister.luks.secret.Secrets;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.Format;
import org.cloister.vm.cluster.Cluster;
import org.cloister.vm.cluster.SlurmFilter;
import org.cloister.vm.drive.Drive;
import org.cloister.vm.drive.DriveDisk;
import org.cloister.vm.drive.DrivePlan;
import org.cloister.vm.machine.Chronyd;
import org.cloister.vm.machine.Disks;
import org.cloister.vm.machine.Holder;
import org.cloister.vm.machine.Munged;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.machine.Services;
import org.cloister.vm.storage.NfsServer;
import org.cloister.vm.tunnel.Charon;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an agent has left of a project's controlling VM: its keys are gone with it, and two starts share none. Its daemons still
 * write to the drive, so they end in their order, and the drive is whole before the VM ends.
 */
final class OrphanedProject {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanedProject.class);

    private final List<Part> parts;

    /** What ends a part of it, whether that runs or not. */
    interface Step {
        void run() throws IOException;
    }

    record Part(String name, Step end) {}

    /** @param parts in the order in which they end */
    OrphanedProject(List<Part> parts) {
        this.parts = List.copyOf(parts);
    }

    static OrphanedProject of(Programs programs, Services services, Secrets secrets, Path run) {
        return new OrphanedProject(List.of(
                new Part("filter", () -> SlurmFilter.stop(services)),
                new Part("daemons", () -> {
                    List<String> left = Cluster.stop(services);
                    if (!left.isEmpty()) {
                        throw new IOException("want all ended, have " + left);
                    }
                }),
                new Part("munged", new Munged(services, run)::stop),
                new Part("storage", () -> NfsServer.stop(programs)),
                new Part("tunnels", new Charon(programs, run.resolve("charon"), Esp.KERNEL)::stop),
                new Part("time", () -> Chronyd.stop(programs, run.resolve("time"))),
                new Part("drive", () -> closeDrive(programs, secrets))));
    }

    /** As far as it can be. */
    void end() {
        for (Part part : parts) {
            try {
                part.end.run();
            } catch (IOException | RuntimeException e) {
                LOG.error("{}: left as it is: {}", part.name, e.toString());
            }
        }
    }

    private static void closeDrive(Programs programs, Secrets secrets) throws IOException {
        DrivePlan plan = new DrivePlan(
                DriveDisk.find(new Disks(Path.of("/sys/block"))),
                Format.labelled("project/left"),
                DrivePlan.MAPPING,
                DrivePlan.AT);
        List<Holder> holders = new Drive(programs, secrets, Cryptsetup.load(), plan).close();
        if (!holders.isEmpty()) {
            LOG.warn("drive: closed under {}", holders);
        }
    }
}
