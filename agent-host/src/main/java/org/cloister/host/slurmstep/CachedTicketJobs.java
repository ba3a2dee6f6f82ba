package org.cloister.host.slurmstep;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Keeps the numbers of jobs by SLUID, each asked for once: a SLUID is never given to another job. */
public final class CachedTicketJobs implements TicketJobs {
    /** More than a host runs at a time; the one that was asked for longest ago is asked for again. */
    private static final int MAX = 4096;

    private final TicketJobs slurm;
    private final Map<String, Long> known = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MAX;
        }
    };

    public CachedTicketJobs(TicketJobs slurm) {
        this.slurm = slurm;
    }

    @Override
    public boolean isTicketJob(long job, String ticket) throws IOException {
        return slurm.isTicketJob(job, ticket);
    }

    @Override
    public long numberOf(String sluid) throws IOException {
        synchronized (known) {
            Long number = known.get(sluid);
            if (number != null) {
                return number;
            }
        }
        long number = slurm.numberOf(sluid);
        synchronized (known) {
            known.put(sluid, number);
        }
        return number;
    }
}
