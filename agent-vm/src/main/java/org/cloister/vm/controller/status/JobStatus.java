package org.cloister.vm.controller.status;

/**
 * Where a job stands on its way to its nodes, for its owner.
 *
 * @param phase one word, such as {@code boot}; the words of {@link org.cloister.vm.controller.tickets.WorkerPhase} and
 *     {@code slurm}, {@code quota}, {@code start}, {@code failed}
 * @param waitsOn who is to act next, such as {@code the site}; empty if nobody
 * @param text what happened or is awaited, in one line, both values where there are two
 */
public record JobStatus(String phase, String waitsOn, String text) {}
