package org.cloister.host.daemon;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.host.HostConfig;
import org.cloister.host.HostVmConfig;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.SevCapabilities;
import org.cloister.host.domain.SevDecision;
import org.cloister.host.libvirt.Hypervisor;
import org.cloister.host.plan.HostVmDefaults;
import org.cloister.preflight.FindingSeverity;
import org.cloister.preflight.MachineRole;
import org.cloister.preflight.PreflightChecks;
import org.cloister.preflight.PreflightFinding;
import org.cloister.preflight.PreflightReport;
import org.cloister.preflight.RelaySlurmSettings;
import org.cloister.preflight.machine.LiveMachine;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Preflight of this host: runs the checks of {@code agentctl doctor} and determines the defaults of its VMs. It runs at
 * the start on a thread of its own, which takes seconds, and again each minute until it passes.
 */
final class HostPreflight implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HostPreflight.class);
    private static final Duration RETRY_INTERVAL = Duration.ofSeconds(60);
    /** Twice the time limit of all checks together. */
    private static final Duration FIRST_RUN_LIMIT = Duration.ofMinutes(2);
    /** No relay settings: the relay's Slurm is checked on the relay's machine. */
    private static final RelaySlurmSettings NO_RELAY = new RelaySlurmSettings(
            RelaySlurmSettings.DEFAULT_USER, RelaySlurmSettings.DEFAULT_PARTITION, Optional.empty(), List.of());
    /** The preflight check that reports whether guests run on the processor. */
    private static final String KVM = "kvm";

    private final HostConfig config;
    private final Hypervisor hypervisor;
    private final Thread thread;
    private final CountDownLatch firstRun = new CountDownLatch(1);
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile CheckResult result = new CheckResult(Optional.of("under way"), null);

    /**
     * Result of a preflight run.
     *
     * @param defaults null if it has not passed
     */
    private record CheckResult(
            Optional<String> failure, @Nullable HostVmDefaults defaults) {}

    HostPreflight(HostConfig config, Hypervisor hypervisor) {
        this.config = config;
        this.hypervisor = hypervisor;
        this.thread = new Thread(this::runPeriodically, "preflight");
        this.thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /**
     * Returns why preflight has not passed.
     *
     * @return empty once it has passed
     */
    Optional<String> failure() {
        return result.failure;
    }

    /** Returns the defaults of this host's VMs; waits for the first run to finish. */
    HostVmDefaults defaults() throws IOException, InterruptedException {
        firstRun.await(FIRST_RUN_LIMIT.toSeconds(), TimeUnit.SECONDS);
        CheckResult now = result;
        if (now.defaults == null) {
            throw new IOException("preflight has not passed: " + now.failure.orElseThrow());
        }
        return now.defaults;
    }

    private void runPeriodically() {
        try {
            do {
                result = examine();
                result.failure.ifPresent(
                        why -> LOG.error("preflight check failed: {}; this host starts no VM until it passes", why));
                firstRun.countDown();
            } while (result.failure.isPresent() && !closing.await(RETRY_INTERVAL.toSeconds(), TimeUnit.SECONDS));
            if (result.failure.isEmpty()) {
                LOG.info("preflight passed: this host starts VMs");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private CheckResult examine() {
        try (LiveMachine machine = new LiveMachine(variables())) {
            PreflightChecks doctor =
                    new PreflightChecks(MachineRole.HOST, config.libvirt().uri(), NO_RELAY);
            PreflightReport examination = doctor.examine(machine, Set.of());
            Optional<String> failure = examination.findings().stream()
                    .filter(finding -> finding.severity() == FindingSeverity.FAILURE)
                    .findFirst()
                    .map(HostPreflight::text);
            return failure.isPresent()
                    ? new CheckResult(failure, null)
                    : new CheckResult(Optional.empty(), defaults(examination));
        } catch (IOException e) {
            return new CheckResult(Optional.of(String.valueOf(e.getMessage())), null);
        }
    }

    /** Returns environment variables that point programs to the paths of this host's configuration. */
    private Map<String, String> variables() {
        Map<String, String> variables = new HashMap<>();
        variables.put("OVS_RUNDIR", config.bridge().runDirectory().toString());
        config.slurm().configuration().ifPresent(file -> variables.put("SLURM_CONF", file.toString()));
        config.slurm()
                .programs()
                .ifPresent(folder ->
                        variables.put("PATH", folder + ":" + System.getenv().getOrDefault("PATH", "/usr/bin:/bin")));
        return variables;
    }

    private HostVmDefaults defaults(PreflightReport examination) throws IOException {
        HostVmConfig vm = config.vm();
        Accelerator accelerator = accelerator(examination, vm.accelerator());
        SevCapabilities sev =
                vm.launchSecurity() == SevDecision.Mode.OFF ? SevCapabilities.NONE : hypervisor.sevCapabilities();
        return new HostVmDefaults(
                accelerator,
                vm.reserves().of(accelerator),
                vm.backing(),
                vm.launchSecurity(),
                sev,
                vm.tpm(),
                vm.debugConsole(),
                VlanTrunk.mtu(config.bridge()));
    }

    /**
     * Returns how this host's VMs run.
     *
     * @param configured accelerator of the configuration
     * @throws IOException if KVM is configured and the check of it found why no guest runs with it
     */
    static Accelerator accelerator(PreflightReport examination, Optional<Accelerator> configured) throws IOException {
        PreflightFinding kvm = examination.findings().stream()
                .filter(finding -> finding.check().equals(KVM))
                .findFirst()
                .orElseThrow();
        boolean works = kvm.severity() == FindingSeverity.OK;
        Accelerator accelerator = configured.orElse(works ? Accelerator.KVM : Accelerator.TCG);
        if (accelerator == Accelerator.KVM && !works) {
            throw new IOException(text(kvm));
        }
        return accelerator;
    }

    private static String text(PreflightFinding finding) {
        return finding.check() + ": " + finding.text()
                + finding.remedy().map(remedy -> "; mend: " + remedy).orElse("");
    }

    @Override
    public void close() {
        closing.countDown();
    }
}
