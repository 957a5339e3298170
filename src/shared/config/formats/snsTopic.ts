/** The pattern of the name of an Amazon SNS topic: its partition, its region, an account and the topic's own name. */
export const TOPIC_ARN_PATTERN = "^arn:(aws|aws-cn|aws-us-gov):sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$";
