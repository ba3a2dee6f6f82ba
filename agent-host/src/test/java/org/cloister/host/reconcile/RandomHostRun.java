package org.cloister.host.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.cloister.host.vm.ResourceOwner;

/** One random life of a host: VMs come and go, sources fall silent, the daemon is killed at any point. */
final class RandomHostRun {
    private static final HostResource FOREIGN =
            new HostResource(ResourceKind.TAP, "cl-otherbb0", Optional.empty(), true);
    private static final int MAX_VMS = 40;

    private final Random random;
    private final FakeHostBackend machine = new FakeHostBackend();
    private final SimulatedDaemon daemon;
    private final List<String> scenario = new ArrayList<>();
    private final Map<ResourceOwner, Boolean> scratch = new HashMap<>();
    /** VMs whose guest began and to which nothing happened since. */
    private final Set<ResourceOwner> right = new HashSet<>();
    /** VMs to which happened what ends them, whatever is forgotten. */
    private final Set<ResourceOwner> doomed = new HashSet<>();

    private boolean lost;
    private int kills;

    RandomHostRun(Random random, Path file) throws IOException {
        this.random = random;
        this.daemon = new SimulatedDaemon(machine, file);
        machine.put(FOREIGN);
    }

    int kills() {
        return kills;
    }

    int survivors() {
        return right.size();
    }

    void step() throws Exception {
        if (random.nextInt(4) == 0) {
            machine.killAt(1 + random.nextInt(15));
        }
        try {
            performRandomAction();
            register();
        } catch (SimulatedKill e) {
            kills++;
            boolean lose = random.nextInt(5) == 0;
            lost |= lose;
            if (lose) {
                // Without its entry a VM without its port is not whole.
                right.removeIf(owner -> !machine.isRight(owner, scratch.getOrDefault(owner, false)));
            }
            boolean cut = random.nextBoolean();
            scenario.add("killed " + e.getMessage() + (lose ? ", ledger lost" : cut ? ", cut" : ""));
            daemon.restart(e, cut, lose);
        }
        machine.killAt(Integer.MAX_VALUE);
        check();
    }

    private void performRandomAction() throws Exception {
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> build();
            case 3 -> ask();
            case 4 -> harm();
            case 5 -> switchOff();
            case 6 -> spoil();
            case 7 -> {
                daemon.pass(Duration.ofSeconds(random.nextInt(20)));
                runPass();
            }
            case 8 -> port();
            default -> runPass();
        }
    }

    /** Guests that run speak again to a daemon that has forgotten it. */
    private void register() throws IOException {
        for (VmLedgerEntry entry : daemon.entries()) {
            if (right.contains(entry.owner()) && entry.step() == VmStartStep.RUNNING) {
                daemon.register(entry.owner());
            }
        }
    }

    private void runPass() {
        scenario.add("round");
        daemon.runPass();
    }

    private void build() throws Exception {
        if (scratch.size() >= MAX_VMS) {
            return;
        }
        ResourceOwner owner = ResourceOwners.owner(scratch.size());
        scratch.put(owner, random.nextBoolean());
        scenario.add("build " + owner.uuid());
        try {
            daemon.build(owner, scratch.getOrDefault(owner, false));
            daemon.register(owner);
        } catch (VmBuildFailed e) {
            scenario.add(String.valueOf(e.getMessage()));
        } finally {
            if (machine.hasBegun(owner)) {
                right.add(owner);
            }
        }
    }

    private Optional<ResourceOwner> any() {
        List<ResourceOwner> all =
                right.stream().sorted((a, b) -> a.uuid().compareTo(b.uuid())).toList();
        return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
    }

    private void ask() throws IOException {
        Optional<ResourceOwner> owner = any();
        if (owner.isPresent()) {
            scenario.add("ask " + owner.get().uuid());
            right.remove(owner.get());
            daemon.ask(owner.get());
        }
    }

    private void harm() {
        any().ifPresent(owner -> {
            int what = random.nextInt(4);
            scenario.add("harm " + what + " " + owner.uuid());
            right.remove(owner);
            doomed.add(owner);
            switch (what) {
                case 0 -> machine.lose(owner, ResourceKind.DOMAIN);
                case 1 -> machine.endJob(owner);
                case 2 -> machine.lose(owner, ResourceKind.TAP);
                default -> {
                    machine.endJob(owner);
                    machine.lose(owner, ResourceKind.DOMAIN);
                }
            }
        });
    }

    /** As when the bridge's database was made anew; the VM goes on. */
    private void port() {
        any().filter(owner -> !lost && !daemon.isEnding(owner)).ifPresent(owner -> {
            scenario.add("port " + owner.uuid());
            machine.lose(owner, ResourceKind.PORT);
            machine.switchOff(Set.of(), false);
            daemon.runPass();
        });
    }

    private void switchOff() {
        Set<ResourceKind> parts = EnumSet.noneOf(ResourceKind.class);
        for (ResourceKind part : ResourceKind.values()) {
            if (random.nextInt(4) == 0) {
                parts.add(part);
            }
        }
        boolean steps = random.nextInt(4) == 0;
        scenario.add("silent " + parts + " " + steps);
        machine.switchOff(parts, steps);
    }

    private void spoil() {
        Set<ResourceKind> parts = EnumSet.noneOf(ResourceKind.class);
        if (random.nextBoolean()) {
            parts.add(List.of(ResourceKind.values()).get(random.nextInt(ResourceKind.values().length)));
        }
        scenario.add("fail " + parts);
        machine.fail(parts);
    }

    private void check() {
        assertThat(machine.all()).contains(FOREIGN);
        for (ResourceOwner owner : right) {
            assertThat(machine.of(owner))
                    .as("has all: " + owner)
                    .hasSizeGreaterThanOrEqualTo(scratch.getOrDefault(owner, false) ? 4 : 3);
        }
    }

    /** Everything answers and works again. */
    void settle() throws IOException {
        machine.switchOff(Set.of(), false);
        machine.fail(Set.of());
        runPass();
        register();
        daemon.pass(SimulatedDaemon.TIMES.powerOff());
        runPass();
        ReconcilePass.Outcome outcome = daemon.runPass();
        check();
        assertThat(outcome.isClean()).as(outcome.toString()).isTrue();
        List<String> orphans =
                outcome.orphans().stream().map(OrphanResource::name).toList();
        scratch.forEach((owner, has) -> {
            Optional<VmLedgerEntry> entry = daemon.ledger().entry(owner.uuid());
            if (right.contains(owner)) {
                assertThat(machine.isRight(owner, has)).as("right " + owner).isTrue();
                assertThat(entry).as("entry of " + owner).isPresent();
            }
            assertThat(entry.isPresent() && doomed.contains(owner))
                    .as("gone " + owner)
                    .isFalse();
            if (entry.isPresent()) {
                assertThat(entry.get().isEnding()).as("ending " + entry).isFalse();
                assertThat(machine.isRight(owner, has)).as("right " + owner).isTrue();
            } else {
                assertThat(machine.of(owner))
                        .as("left of " + owner)
                        .allMatch(resource -> lost && resource.owner().isEmpty() && orphans.contains(resource.name()));
            }
        });
        daemon.ledger().close();
    }

    @Override
    public String toString() {
        return String.join("\n", scenario);
    }
}
