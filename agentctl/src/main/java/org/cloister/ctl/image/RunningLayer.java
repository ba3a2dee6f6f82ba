package org.cloister.ctl.image;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Layer as the kernel reports it.
 *
 * @param rootHash the hash that the kernel enforces; empty where it enforces none
 * @param difference difference from the command line, or a fault of the layer
 */
public record RunningLayer(String name, Optional<String> rootHash, Status status, Optional<String> difference) {
    /** State of a device as dm-verity reports it. */
    public enum Status {
        /** Every block read so far matched its hash. */
        VALID,
        CORRUPTED,
        ABSENT
    }

    /**
     * Inspects a mapped layer.
     *
     * @param hash BLOCKS,HASH from the command line; empty where it does not name the layer
     */
    static RunningLayer of(InspectedMachine machine, String name, Optional<String> hash) throws UndeterminedException {
        Optional<VerityTable> table =
                VerityTable.parse(dmsetup(machine, "table", name).out());
        if (table.isEmpty()) {
            return absent(name, "layer-" + name + " is no dm-verity device");
        }
        String[] state = dmsetup(machine, "status", name).out().strip().split("[ \t]+", -1);
        Status status =
                state.length > 3 && state[2].equals("verity") && state[3].equals("V") ? Status.VALID : Status.CORRUPTED;
        String enforced = table.get().dataBlocks() + "," + table.get().rootHash();
        Optional<String> difference = Optional.empty();
        if (hash.isEmpty()) {
            difference = Optional.of("mapped, and not on the command line");
        } else if (!hash.get().equals(enforced)) {
            difference = Optional.of("command line says " + hash.get() + ", kernel enforces " + enforced);
        } else if (!table.get().algorithm().equals("sha256")) {
            difference = Optional.of("want sha256, kernel uses " + table.get().algorithm());
        } else if (status == Status.CORRUPTED) {
            difference = Optional.of("a block does not match its hash");
        }
        return new RunningLayer(name, Optional.of(table.get().rootHash()), status, difference);
    }

    static RunningLayer absent(String name, String why) {
        return new RunningLayer(name, Optional.empty(), Status.ABSENT, Optional.of(why));
    }

    private static ProgramResult dmsetup(InspectedMachine machine, String verb, String name)
            throws UndeterminedException {
        ProgramResult result = machine.run("dmsetup", verb, "layer-" + name)
                .orElseThrow(() -> new UndeterminedException("dmsetup is missing", "apt-get install dmsetup"));
        if (!result.succeeded()) {
            throw new UndeterminedException(
                    "dmsetup " + verb + " layer-" + name + ": " + result.firstErrorLine(), "run agentctl as root");
        }
        return result;
    }
}
