package org.cloister.vm.rpcfilter;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Requests that slurmctld answers, by Slurm's names and numbers, of 22.05, 24.11 and 26.05 together: no number has two
 * meanings among them. The table in docs/threat-model.md gives the reason for which each is admitted from workers or
 * refused.
 */
public enum SlurmMessageType {
    REQUEST_NODE_REGISTRATION_STATUS(1001, false),
    MESSAGE_NODE_REGISTRATION_STATUS(1002, true),
    REQUEST_RECONFIGURE(1003, false),
    REQUEST_SHUTDOWN(1005, false),
    REQUEST_PING(1008, true),
    REQUEST_CONTROL(1009, false),
    REQUEST_SET_DEBUG_LEVEL(1010, false),
    REQUEST_TAKEOVER(1012, false),
    REQUEST_SET_SCHEDLOG_LEVEL(1013, false),
    REQUEST_SET_DEBUG_FLAGS(1014, false),
    REQUEST_REBOOT_NODES(1015, false),
    REQUEST_LICENSE_INFO(1021, true),
    REQUEST_SET_FS_DAMPENING_FACTOR(1023, false),
    REQUEST_SET_SUSPEND_EXC_NODES(1025, false),
    REQUEST_SET_SUSPEND_EXC_PARTS(1026, false),
    REQUEST_SET_SUSPEND_EXC_STATES(1027, false),
    REQUEST_DBD_RELAY(1028, false),
    REQUEST_BUILD_INFO(2001, true),
    REQUEST_JOB_INFO(2003, true),
    REQUEST_JOB_STEP_INFO(2005, true),
    REQUEST_NODE_INFO(2007, true),
    REQUEST_PARTITION_INFO(2009, true),
    REQUEST_TOPO_CONFIG(2011, false),
    REQUEST_CONFIG(2015, true),
    REQUEST_TRIGGER_SET(2017, false),
    REQUEST_TRIGGER_GET(2018, false),
    REQUEST_TRIGGER_CLEAR(2019, false),
    REQUEST_JOB_INFO_SINGLE(2021, true),
    REQUEST_SHARE_INFO(2022, true),
    REQUEST_RESERVATION_INFO(2024, true),
    REQUEST_PRIORITY_FACTORS(2026, true),
    REQUEST_TOPO_INFO(2028, true),
    REQUEST_TRIGGER_PULL(2030, false),
    REQUEST_FRONT_END_INFO(2031, false),
    REQUEST_STATS_INFO(2035, false),
    REQUEST_BURST_BUFFER_INFO(2037, false),
    REQUEST_JOB_USER_INFO(2039, true),
    REQUEST_NODE_INFO_SINGLE(2040, true),
    REQUEST_HOSTLIST_EXPANSION(2041, false),
    REQUEST_ASSOC_MGR_INFO(2043, false),
    REQUEST_FED_INFO(2049, true),
    REQUEST_BATCH_SCRIPT(2051, false),
    REQUEST_CONTROL_STATUS(2053, false),
    REQUEST_BURST_BUFFER_STATUS(2055, false),
    REQUEST_JOB_STATE(2057, true),
    REQUEST_CRONTAB(2200, false),
    REQUEST_UPDATE_CRONTAB(2202, false),
    REQUEST_TLS_CERT(2300, false),
    REQUEST_UPDATE_JOB(3001, true),
    REQUEST_UPDATE_NODE(3002, false),
    REQUEST_CREATE_PARTITION(3003, false),
    REQUEST_DELETE_PARTITION(3004, false),
    REQUEST_UPDATE_PARTITION(3005, false),
    REQUEST_CREATE_RESERVATION(3006, false),
    REQUEST_DELETE_RESERVATION(3008, false),
    REQUEST_UPDATE_RESERVATION(3009, false),
    REQUEST_UPDATE_FRONT_END(3011, false),
    REQUEST_DELETE_NODE(3014, false),
    REQUEST_CREATE_NODE(3015, false),
    REQUEST_NODE_ALIAS_ADDRS(3016, true),
    REQUEST_RESOURCE_ALLOCATION(4001, true),
    REQUEST_SUBMIT_BATCH_JOB(4003, true),
    REQUEST_RESOURCE_LAYOUT(4007, false),
    REQUEST_JOB_WILL_RUN(4012, true),
    REQUEST_JOB_ALLOCATION_INFO(4014, true),
    REQUEST_JOB_READY(4019, true),
    REQUEST_JOB_END_TIME(4021, true),
    REQUEST_JOB_NOTIFY(4022, true),
    REQUEST_JOB_SBCAST_CRED(4023, true),
    REQUEST_HET_JOB_ALLOCATION(4025, true),
    REQUEST_HET_JOB_ALLOC_INFO(4027, true),
    REQUEST_SUBMIT_BATCH_HET_JOB(4028, true),
    REQUEST_SBCAST_CRED_NO_JOB(4029, false),
    REQUEST_CTLD_MULT_MSG(4500, false),
    REQUEST_SIB_JOB_LOCK(4503, false),
    REQUEST_SIB_JOB_UNLOCK(4504, false),
    REQUEST_JOB_STEP_CREATE(5001, true),
    REQUEST_CANCEL_JOB_STEP(5005, true),
    REQUEST_UPDATE_JOB_STEP(5007, false),
    REQUEST_STEP_BY_CONTAINER_ID(5008, false),
    REQUEST_SUSPEND(5014, false),
    REQUEST_STEP_COMPLETE(5016, true),
    REQUEST_COMPLETE_JOB_ALLOCATION(5017, true),
    REQUEST_COMPLETE_BATCH_SCRIPT(5018, true),
    REQUEST_STEP_LAYOUT(5021, true),
    REQUEST_JOB_REQUEUE(5023, true),
    REQUEST_KILL_JOB(5032, true),
    REQUEST_TOP_JOB(5038, false),
    REQUEST_AUTH_TOKEN(5039, false),
    REQUEST_KILL_JOBS(5041, true),
    MESSAGE_EPILOG_COMPLETE(6012, true),
    RESPONSE_UPDATE_JOB_MEM(6015, false),
    REQUEST_COMPLETE_PROLOG(6018, true),
    REQUEST_PERSIST_INIT(6500, false),
    REQUEST_PERSIST_INIT_TLS(6501, false),
    ACCOUNTING_UPDATE_MSG(10001, false),
    ACCOUNTING_FIRST_REG(10002, false),
    ACCOUNTING_REGISTER_CTLD(10003, false);

    private static final Map<Integer, SlurmMessageType> BY_NUMBER = new HashMap<>();

    static {
        for (SlurmMessageType type : values()) {
            BY_NUMBER.put(type.number, type);
        }
    }

    private final int number;
    private final boolean admitted;

    SlurmMessageType(int number, boolean admitted) {
        this.number = number;
        this.admitted = admitted;
    }

    public static Optional<SlurmMessageType> of(int number) {
        return Optional.ofNullable(BY_NUMBER.get(number));
    }

    public int number() {
        return number;
    }

    /** Returns whether workers may send it. */
    public boolean isAdmitted() {
        return admitted;
    }

    /** Returns the name in counters, such as {@code request_trigger_set}. */
    String code() {
        return name().toLowerCase(Locale.ROOT);
    }
}
