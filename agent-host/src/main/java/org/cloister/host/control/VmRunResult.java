package org.cloister.host.control;

import org.cloister.host.vm.VmRunCode;

/**
 * Result of a job step's VM: how it ended, or why it did not start.
 *
 * @param phase the last phase that was reached, or the one that failed
 * @param text for people
 * @param hint what to do; empty if there is nothing
 */
public record VmRunResult(VmRunCode code, VmRunPhase phase, String text, String hint) {}
