package org.cloister.lab.scenario;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.cloister.host.reconcile.HostBackend;
import org.cloister.host.reconcile.ObservedState;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmStepRunner;
import org.cloister.host.vm.ResourceOwner;

/** Points at which a host's daemon is killed: it halts at one of them, without a limit. */
final class KillPoints {
    private static final String BEFORE = "before ";
    private static final String AFTER = "after ";

    private volatile String halt = "";

    /** Of a VM on its way up, in order; the first of each step is before the step is in the ledger. */
    static List<String> up() {
        List<String> points = new ArrayList<>();
        for (VmStartStep step : EnumSet.range(VmStartStep.OVERLAY, VmStartStep.RUNNING)) {
            points.addAll(List.of("free " + step, BEFORE + step, AFTER + step));
        }
        return points;
    }

    /** Of what is there of it, from the domain down. */
    static List<String> down() {
        List<ResourceKind> parts = new ArrayList<>(List.of(ResourceKind.values()));
        Collections.reverse(parts);
        List<String> points = new ArrayList<>();
        parts.forEach(part -> points.addAll(both("remove " + part)));
        return points;
    }

    static List<String> both(String action) {
        return List.of(BEFORE + action, AFTER + action);
    }

    /** @param point empty for none */
    void haltAt(String point) {
        halt = point;
    }

    VmStepRunner of(VmStepRunner maker) {
        return new VmStepRunner() {
            @Override
            public boolean isFree(VmStartStep step) throws IOException {
                pass("free " + step);
                return maker.isFree(step);
            }

            @Override
            public void run(VmStartStep step) throws IOException {
                pass(BEFORE + step);
                maker.run(step);
                pass(AFTER + step);
            }
        };
    }

    HostBackend of(HostBackend machine) {
        return new HostBackend() {
            @Override
            public ObservedState observe() {
                return machine.observe();
            }

            @Override
            public void resume(ResourceOwner owner) throws IOException {
                pass(BEFORE + "resume");
                machine.resume(owner);
                pass(AFTER + "resume");
            }

            @Override
            public void restorePort(ResourceOwner owner) throws IOException {
                pass(BEFORE + "reopen");
                machine.restorePort(owner);
                pass(AFTER + "reopen");
            }

            @Override
            public void requestPowerOff(ResourceOwner owner) throws IOException {
                pass(BEFORE + "askOff");
                machine.requestPowerOff(owner);
                pass(AFTER + "askOff");
            }

            @Override
            public void remove(ResourceOwner owner, ResourceKind part) throws IOException {
                pass(BEFORE + "remove " + part);
                machine.remove(owner, part);
                pass(AFTER + "remove " + part);
            }
        };
    }

    private void pass(String point) {
        if (!point.equals(halt)) {
            return;
        }
        System.out.println("halted " + point);
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts", e);
        }
    }
}
