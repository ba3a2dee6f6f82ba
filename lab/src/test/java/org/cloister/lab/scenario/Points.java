package org.cloister.lab.scenario;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.cloister.host.ledger.Machine;
import org.cloister.host.ledger.Maker;
import org.cloister.host.ledger.Part;
import org.cloister.host.ledger.Seen;
import org.cloister.host.ledger.Step;
import org.cloister.host.vm.VmOwner;

/** Where a host's daemon is killed: it stands still at one of them, for as long as it takes. */
final class Points {
    private static final String BEFORE = "before ";
    private static final String AFTER = "after ";

    private volatile String halt = "";

    /** Of a VM on its way up, in order; the first of each step is before the step is in the ledger. */
    static List<String> up() {
        List<String> points = new ArrayList<>();
        for (Step step : EnumSet.range(Step.OVERLAY, Step.RUNNING)) {
            points.addAll(List.of("free " + step, BEFORE + step, AFTER + step));
        }
        return points;
    }

    /** Of what is there of it, from the domain down. */
    static List<String> down() {
        List<Part> parts = new ArrayList<>(List.of(Part.values()));
        Collections.reverse(parts);
        List<String> points = new ArrayList<>();
        parts.forEach(part -> points.addAll(both("remove " + part)));
        return points;
    }

    static List<String> both(String act) {
        return List.of(BEFORE + act, AFTER + act);
    }

    /** @param point empty for none */
    void haltAt(String point) {
        halt = point;
    }

    Maker of(Maker maker) {
        return new Maker() {
            @Override
            public boolean isFree(Step step) throws IOException {
                pass("free " + step);
                return maker.isFree(step);
            }

            @Override
            public void make(Step step) throws IOException {
                pass(BEFORE + step);
                maker.make(step);
                pass(AFTER + step);
            }
        };
    }

    Machine of(Machine machine) {
        return new Machine() {
            @Override
            public Seen look() {
                return machine.look();
            }

            @Override
            public void resume(VmOwner owner) throws IOException {
                pass(BEFORE + "resume");
                machine.resume(owner);
                pass(AFTER + "resume");
            }

            @Override
            public void reopen(VmOwner owner) throws IOException {
                pass(BEFORE + "reopen");
                machine.reopen(owner);
                pass(AFTER + "reopen");
            }

            @Override
            public void askOff(VmOwner owner) throws IOException {
                pass(BEFORE + "askOff");
                machine.askOff(owner);
                pass(AFTER + "askOff");
            }

            @Override
            public void remove(VmOwner owner, Part part) throws IOException {
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
