package org.cloister.vm.controller.slurm;

import java.util.List;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmUnavailableException;

/** Column of squeue that shows whether a job has whole nodes. */
enum ExclusiveColumn {
    /**
     * NO for an exclusive job, on older releases; OK if the job shares nodes, USER and TOPO with whom, YES if it would
     * share CPUs too.
     */
    OVERSUBSCRIBE("OverSubscribe", "NO"),
    /** NO, NODE, USER or TOPO; exists from 26.05 on, where OverSubscribe is NO for nearly all jobs. */
    EXCLUSIVE("Exclusive", "NODE");

    private static final String NOT_THERE = "Invalid job format specification";

    private final String field;
    private final String wholeNodes;

    ExclusiveColumn(String field, String wholeNodes) {
        this.field = field;
        this.wholeNodes = wholeNodes;
    }

    /** Asks squeue whether it has the newer column; one that has not still exits with 0. */
    static ExclusiveColumn probe(SlurmCommand slurm) throws SlurmUnavailableException {
        SlurmCommand.Output output =
                slurm.run("squeue", List.of("-h", "-u", "root", "-t", "PD", "-O", EXCLUSIVE.field), "");
        if (output.err().contains(NOT_THERE)) {
            return OVERSUBSCRIBE;
        }
        if (output.exit() != 0) {
            throw new SlurmUnavailableException("squeue: " + output.complaint() + "; ask scontrol ping");
        }
        return EXCLUSIVE;
    }

    String format(int width) {
        return field + ":" + width + "|,";
    }

    boolean isExclusive(String text) {
        return wholeNodes.equals(text);
    }
}
