package org.cloister.vm.controller.status;

/**
 * Status of a pending job, for its owner.
 *
 * @param phase one word, such as {@code boot}; the words of {@link org.cloister.vm.controller.tickets.WorkerPhase} and
 *     {@code slurm}, {@code quota}, {@code start}, {@code failed}
 * @param waitsOn who acts next, such as {@code the site}; empty if no action is awaited
 * @param text what happened or is awaited, in one line, with both values where there are two
 */
public record JobStatus(String phase, String waitsOn, String text) {}
