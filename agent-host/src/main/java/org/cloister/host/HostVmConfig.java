package org.cloister.host;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.cloister.daemon.TomlReader;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.domain.SevDecision;
import org.cloister.host.drive.LeaseHolder;
import org.cloister.host.reconcile.VmTimeouts;
import org.cloister.host.scratch.ErasureMethod;
import org.cloister.protocol.ticket.MemoryReserve;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * Tables {@code vm}, {@code memory} and {@code times} of the host's configuration: settings that all its VMs share.
 *
 * @param accelerator empty to use what preflight finds on the host
 * @param tpm whether each VM has a software TPM
 * @param erasureMethod for scratch disks
 * @param debugConsole whether each VM has a serial console in a file; never set in production
 * @param passInterval the longest time between two reconcile passes
 * @param drives folder of controlling VMs' drives, on storage that other hosts share; if empty, this host runs no
 *     controlling VMs
 * @param leaseAge how long a VM here may run without a check of its drive's lease; a later holder of the drive waits as
 *     long
 */
public record HostVmConfig(
        Optional<Accelerator> accelerator,
        SevDecision.Mode launchSecurity,
        boolean tpm,
        ErasureMethod erasureMethod,
        boolean debugConsole,
        MemoryBacking backing,
        Reserves reserves,
        VmTimeouts timeouts,
        Duration passInterval,
        Optional<Path> drives,
        Duration leaseAge) {
    private static final int HOUR_S = 3600;
    private static final int DAY_S = 24 * HOUR_S;
    /** Half of it is longer than the 90 s for which an NFS 4 server answers nothing after its start. */
    private static final Duration DRIVE = Duration.ofMinutes(4);

    /** Configured values of {@link MemoryReserves}; for an empty one the measured default applies. */
    public record Reserves(OptionalInt guestMib, OptionalInt guestOneIn, OptionalInt qemuMib, OptionalInt qemuOneIn) {
        public MemoryReserves of(Accelerator accelerator) {
            MemoryReserves defaults = MemoryReserves.defaults(accelerator == Accelerator.TCG);
            return new MemoryReserves(
                    of(guestMib, guestOneIn, defaults.guest()), of(qemuMib, qemuOneIn, defaults.qemu()));
        }

        private static MemoryReserve of(OptionalInt mib, OptionalInt oneIn, MemoryReserve defaults) {
            return new MemoryReserve(mib.orElse(defaults.fixedMib()), oneIn.orElse(defaults.oneIn()));
        }
    }

    static HostVmConfig read(TomlReader toml) {
        boolean production = toml.flag("vm.production", true);
        boolean debugConsole = toml.flag("vm.debug-console", false);
        if (production && debugConsole) {
            toml.problem(
                    "vm.debug-console",
                    "must be false if vm.production is true: a guest's console shows its project's data");
        }
        SevDecision.Mode launchSecurity = word(toml, "vm.launch-security", SevDecision.Mode.OFF);
        MemoryBacking backing = backing(toml);
        if (!toml.flag("memory.uncounted", false) && backing.hugepageKib().isEmpty()) {
            requireCounted(toml, backing, launchSecurity);
        }
        return new HostVmConfig(
                accelerator(toml, production),
                launchSecurity,
                toml.flag("vm.tpm", false),
                word(toml, "vm.erasing", ErasureMethod.DISCARD),
                debugConsole,
                backing,
                new Reserves(
                        number(toml, "memory.guest-mib", 0),
                        number(toml, "memory.guest-one-in", 1),
                        number(toml, "memory.qemu-mib", 0),
                        number(toml, "memory.qemu-one-in", 1)),
                new VmTimeouts(
                        toml.seconds("times.register", Duration.ofMinutes(5), 10, HOUR_S),
                        toml.seconds("times.unresponsive", Duration.ofMinutes(10), 10, DAY_S),
                        toml.seconds("times.power-off", Duration.ofSeconds(20), 0, HOUR_S)),
                toml.seconds("times.round", Duration.ofSeconds(60), 1, 60),
                HostConfig.path(toml, "vm.drives"),
                toml.seconds("times.drive", DRIVE, LeaseHolder.MIN_SECONDS, LeaseHolder.MAX_SECONDS));
    }

    /** Emulation is an order of magnitude slower: a host in production has it only where it is written down. */
    private static Optional<Accelerator> accelerator(TomlReader toml, boolean production) {
        return production || toml.has("vm.accelerator")
                ? Optional.of(word(toml, "vm.accelerator", Accelerator.KVM))
                : Optional.empty();
    }

    /**
     * Reports settings with which QEMU takes the guest's memory before it is in the step: the kernel leaves memory with
     * the cgroup in which it was first used. Huge pages are in no memory cgroup anyway.
     */
    private static void requireCounted(TomlReader toml, MemoryBacking backing, SevDecision.Mode launchSecurity) {
        String remedy = "is not counted in its job's step, and Slurm does not bound it; set memory.uncounted = true to"
                + " accept that";
        if (backing.locked()) {
            toml.problem(
                    "memory.locked",
                    "a guest's memory that QEMU locks at its start " + remedy
                            + ", or remove memory.locked and let the host have no swap, or encrypted swap");
        }
        if (launchSecurity != SevDecision.Mode.OFF) {
            toml.problem("vm.launch-security", "a protected guest's memory, which QEMU locks at its start, " + remedy);
        }
    }

    private static MemoryBacking backing(TomlReader toml) {
        OptionalInt kib = toml.has("memory.hugepages-kib")
                ? OptionalInt.of(toml.number("memory.hugepages-kib", 2048, 1, Integer.MAX_VALUE))
                : OptionalInt.empty();
        boolean locked = toml.flag("memory.locked", false);
        try {
            return new MemoryBacking(kib, locked);
        } catch (IllegalArgumentException e) {
            toml.problem("memory.hugepages-kib", String.valueOf(e.getMessage()));
            return MemoryBacking.PLAIN;
        }
    }

    private static OptionalInt number(TomlReader toml, String key, int min) {
        return toml.has(key)
                ? OptionalInt.of(toml.number(key, min, min, ResourceRequest.MAX_MIB))
                : OptionalInt.empty();
    }

    private static <E extends Enum<E>> E word(TomlReader toml, String key, E defaultValue) {
        E[] all = defaultValue.getDeclaringClass().getEnumConstants();
        String text = toml.text(key, word(defaultValue));
        return Arrays.stream(all)
                .filter(each -> word(each).equals(text))
                .findFirst()
                .orElseGet(() -> {
                    String known = Arrays.stream(all).map(HostVmConfig::word).collect(Collectors.joining(", "));
                    toml.problem(key, "want one of " + known + ", have \"" + text + "\"");
                    return defaultValue;
                });
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
