package org.cloister.protocol.policy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * Size of a VM.
 *
 * @param memoryMib as passed to QEMU
 * @param scratchMib size of its empty scratch disk; 0 for none
 */
public record VmShape(long cpus, long memoryMib, long scratchMib) {
    private static final long MAX_CPUS = 4096;
    /** 16 TiB. */
    private static final long MAX_MIB = 1L << 24;

    public VmShape {
        require("cpus", cpus, 1, MAX_CPUS);
        require("memoryMib", memoryMib, 1, MAX_MIB);
        require("scratchMib", scratchMib, 0, MAX_MIB);
    }

    public static VmShape read(StrictJson json) throws MalformedException {
        VmShape shape = new VmShape(
                json.number("cpus", 1, MAX_CPUS),
                json.number("memoryMib", 1, MAX_MIB),
                json.number("scratchMib", 0, MAX_MIB));
        json.requireNothingCritical();
        return shape;
    }

    public void write(ObjectNode json) {
        json.put("cpus", cpus).put("memoryMib", memoryMib).put("scratchMib", scratchMib);
    }

    public boolean within(VmShape limit) {
        return cpus <= limit.cpus && memoryMib <= limit.memoryMib && scratchMib <= limit.scratchMib;
    }

    @Override
    public String toString() {
        return cpus + " CPUs, " + memoryMib + " MiB memory, " + scratchMib + " MiB scratch";
    }

    private static void require(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": want " + min + " to " + max + ", have " + value);
        }
    }
}
